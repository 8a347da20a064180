import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import Provider from 'oidc-provider';
import type { WebVisitor } from './web-visitor.ts';

/** A tool call as it arrived, and for whom. */
interface ArrivedCall {
  tool: string;
  account: string;
  token: string;
  session: string;
}

/** A tool server that lets people in with tokens of a real provider. */
export interface AccountServer extends AsyncDisposable {
  /** The address of the tool server. */
  readonly url: string;
  readonly issuer: string;
  readonly calls: ArrivedCall[];
  /** Paths that the provider was asked for. */
  readonly asked: string[];
  /** The values of all `Authorization` headers that the tool server received. */
  readonly tokens: Set<string>;
  /** How long access tokens live from now on. */
  lifeSecs: number;
  /** Takes over requests to the provider, until replaced. True: it has answered, or never will. */
  intercept: ((path: string, response: ServerResponse) => boolean) | undefined;
  /** Ends all access tokens, as a provider may at any time. */
  forgetTokens(): void;
}

const SCOPES = ['notes.read', 'notes.write'];

/** Starts both. People log in under any name; without a further right, notes can only be read. */
export async function startAccountServer(): Promise<AccountServer> {
  const state = { lifeSecs: 3600, intercept: undefined as AccountServer['intercept'] };
  const asked: string[] = [];
  const calls: ArrivedCall[] = [];
  const tokens = new Set<string>();
  const ended = new Set<string>();
  let provider: Provider | undefined;
  const front = createServer((request, response) => {
    const [path = ''] = (request.url ?? '').split('?');
    asked.push(path);
    if (!state.intercept?.(path, response)) void provider?.callback()(request, response);
  });
  await listen(front);
  const issuer = `http://localhost:${portOf(front)}`;
  const back = createServer((request, response) => void serveTools(request, response));
  await listen(back);
  const url = `http://127.0.0.1:${portOf(back)}/mcp`;
  provider = createProvider(issuer, url, state);

  async function accountOf(request: IncomingMessage) {
    const { authorization = '' } = request.headers;
    if (authorization !== '') tokens.add(authorization);
    const token = authorization.replace(/^Bearer /, '');
    const found = token === '' || ended.has(token) ? undefined : await provider?.AccessToken.find(token);
    if (!found || found.aud !== url) return undefined;
    return { token, account: found.accountId, scopes: new Set((found.scope ?? '').split(' ')) };
  }

  async function serveTools(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const metadata = new URL('/.well-known/oauth-protected-resource/mcp', url).href;
    const json = (status: number, body: unknown, headers = {}) =>
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
    if (request.url === new URL(metadata).pathname)
      return void json(200, { resource: url, authorization_servers: [issuer], scopes_supported: SCOPES });
    const account = await accountOf(request);
    const body = await text(request);
    if (!account) json(401, {}, { 'www-authenticate': `Bearer resource_metadata="${metadata}", scope="notes.read"` });
    else if (request.method === 'POST') answer(body, { account, request, response });
    else response.writeHead(405).end();
  }

  function answer(body: string, { account, request, response }: Answering): void {
    const json = (status: number, sent: unknown, headers = {}) =>
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(sent));
    const message = JSON.parse(body);
    if (message.id === undefined) return void response.writeHead(202).end();
    const session = request.headers['mcp-session-id']?.toString() ?? `session of ${account.account} ${calls.length}`;
    if (isAllowed(message, account, session)) {
      const result = answerTo(message.method, message.params, account);
      json(
        200,
        { jsonrpc: '2.0', id: message.id, ...(result ? { result } : NOT_FOUND) },
        { 'mcp-session-id': session },
      );
    } else json(403, {}, { 'www-authenticate': 'Bearer error="insufficient_scope", scope="notes.write"' });
  }

  function isAllowed({ method, params }: Asked, { account, token, scopes }: Account, session: string): boolean {
    if (method !== 'tools/call') return true;
    calls.push({ tool: params.name ?? '', account, token, session });
    return params.name !== 'write_note' || scopes.has('notes.write');
  }

  return Object.assign(state, {
    ...{ url, issuer, calls, asked, tokens },
    forgetTokens: () => {
      for (const value of tokens) ended.add(value.replace(/^Bearer /, ''));
    },
    async [Symbol.asyncDispose]() {
      for (const server of [front, back]) close(server);
    },
  });
}

interface Answering {
  account: Account;
  request: IncomingMessage;
  response: ServerResponse;
}

interface Asked {
  method: string;
  params: { name?: string };
}

interface Account {
  account: string;
  token: string;
  scopes: ReadonlySet<string>;
}

const NOT_FOUND = { error: { code: -32601, message: 'Method not found' } };
const inputSchema = { type: 'object', properties: {} };

function answerTo(method: string, params: Asked['params'], { account, token }: Account) {
  const serverInfo = { name: 'notes', version: '1' };
  const capabilities = { tools: {}, resources: {}, prompts: {} };
  if (method === 'initialize') return { protocolVersion: '2025-06-18', capabilities, serverInfo };
  const offered = offerTo(method, account);
  if (offered) return offered;
  const tools = ['whoami', 'write_note', 'echo_token'].map((name) => ({
    name,
    description: `Does ${name}.`,
    inputSchema,
  }));
  if (method === 'tools/list') return { tools };
  if (method !== 'tools/call') return undefined;
  return { content: [{ type: 'text', text: params.name === 'echo_token' ? token : account }] };
}

/** Each account has a note and a prompt of its own. */
function offerTo(method: string, account: string) {
  const uri = `note://${account}`;
  if (method === 'resources/list') return { resources: [{ uri, name: 'note' }] };
  if (method === 'resources/read') return { contents: [{ uri, text: `The note of ${account}.` }] };
  if (method === 'prompts/list') return { prompts: [{ name: `greet-${account}` }] };
  const messages = [{ role: 'user', content: { type: 'text', text: `Greet ${account}.` } }];
  return method === 'prompts/get' ? { messages } : undefined;
}

function createProvider(issuer: string, resource: string, state: { lifeSecs: number }): Provider {
  const provider = new Provider(issuer, {
    cookies: { keys: ['only for tests'] },
    scopes: ['openid', 'offline_access'],
    pkce: { required: () => true },
    clientDefaults: { grant_types: ['authorization_code', 'refresh_token'] },
    features: {
      registration: { enabled: true },
      revocation: { enabled: true },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: () => true,
        getResourceServerInfo: () => ({
          scope: SCOPES.join(' '),
          audience: resource,
          accessTokenFormat: 'opaque',
          accessTokenTTL: state.lifeSecs,
        }),
      },
    },
    issueRefreshToken: (_ctx, client, code) =>
      client.grantTypeAllowed('refresh_token') && code.scopes.has('offline_access'),
    rotateRefreshToken: true,
    findAccount: (_ctx, sub) => ({ accountId: sub, claims: async () => ({ sub }) }),
    async loadExistingGrant(ctx) {
      const { session, client, params } = ctx.oidc;
      const accountId = session?.accountId;
      if (accountId === undefined || client === undefined) return undefined;
      const grant = new ctx.oidc.provider.Grant({ clientId: client.clientId, accountId });
      grant.addOIDCScope('openid offline_access');
      grant.addResourceScope(resource, String(params?.scope ?? ''));
      await grant.save();
      return grant;
    },
  });
  return provider;
}

async function listen(server: ReturnType<typeof createServer>): Promise<void> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
}

function close(server: ReturnType<typeof createServer>): void {
  server.closeAllConnections();
  server.close();
}

const portOf = (server: ReturnType<typeof createServer>): number => (server.address() as AddressInfo).port;

interface Consenting {
  /** Who logs in at the provider. */
  as: string;
  visitor: WebVisitor;
  /** The address of the daemon. */
  back: string;
  refuses?: boolean;
}

/** Goes to the provider and consents there, or refuses. Returns the address to which the browser is sent back. */
export async function consentAt(
  start: string,
  { as: name, visitor, back, refuses = false }: Consenting,
): Promise<string> {
  const isStop = (url: string) => (url.startsWith(back) && url !== start) || url.includes('/interaction/');
  let at = await visitor.follow(start, isStop);
  for (let steps = 0; steps < 5 && at.includes('/interaction/'); steps += 1) {
    const page = await (await visitor.get(at)).text();
    const prompt = /name="prompt" value="(\w+)"/.exec(page)?.[1] ?? '';
    if (prompt === 'consent' && refuses) at = await visitor.follow(`${at}/abort`, isStop);
    else {
      const body = new URLSearchParams({ prompt, ...(prompt === 'login' && { login: name, password: 'any' }) });
      at = await visitor.follow(at, isStop, { method: 'POST', body });
    }
  }
  return at;
}
