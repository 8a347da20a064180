import { once } from 'node:events';
import { type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Scope, TOKEN_SCOPES } from '../../protocol/contract.ts';
import type { Authenticator } from '../gateway/auth/authenticator.ts';
import { createClientAddress } from '../gateway/auth/client-address.ts';
import { OPERATOR } from '../gateway/auth/lineage.ts';
import { createOriginPolicy } from '../gateway/auth/origin-policy.ts';
import type { Principal } from '../gateway/auth/principal.ts';
import { Proof } from '../gateway/auth/proof.ts';
import { SERVICE_SCOPES } from '../gateway/auth/services/service-tokens.ts';
import type { Caller } from '../gateway/call.ts';
import { expandScopes } from '../gateway/rights.ts';
import { ANYONE } from '../gateway/sharing/perception.ts';
import { ALL_PERMISSIONS } from '../gateway/users/grant.ts';
import { createHttpApp, type HttpDeps } from '../http/app.ts';
import { BodyDeadlines } from '../http/body-deadlines.ts';
import { createHttpServer } from '../http/server.ts';
import { createEndOfTurn } from '../timing/end-of-turn.ts';
import { bodyOf } from './answer-body.ts';
import { fakeClock } from './fake-clock.ts';
import { recordingLog } from './temp-store.ts';

export interface Asked {
  method: string;
  params: unknown;
  caller: Caller;
}

interface Sent {
  method?: string;
  path: string;
  headers?: Record<string, string>;
  body?: string | Buffer;
}

/**
 * The HTTP edge on a real port, with a function as the gateway. The tokens `read`, `write`, `approve` and `service` have
 * the scope of their name.
 */
export async function httpEdge(
  deps: Partial<HttpDeps> & { answer?(asked: Asked): unknown; authEnabled?: boolean } = {},
) {
  const { answer = () => ({}), authEnabled = true, ...given } = deps;
  const clock = fakeClock(1_000);
  const log = recordingLog();
  const asked: Asked[] = [];
  const counted: unknown[] = [];
  const closing = new AbortController();
  const bodies = new BodyDeadlines({ clock });
  const app = createHttpApp({
    dispatch: async (method, params, caller) => {
      asked.push({ method, params, caller });
      return answer({ method, params, caller });
    },
    authenticator: scopedTokens(authEnabled),
    streams: NO_STREAMS,
    defer: createEndOfTurn().defer,
    attachments: NO_ATTACHMENTS,
    exports: NO_EXPORTS,
    cluster: ONE_NODE,
    findHook: async () => undefined,
    bodies,
    metrics: {
      httpRequest: ({ method, endpoint, statusCode }) => counted.push([method, endpoint, statusCode]),
      rateLimited: () => counted.push('rate limited'),
      sseConnections: (change) => counted.push(['sse', change]),
      sseCoalesced: () => counted.push('coalesced'),
      text: async () => 'service_uptime_seconds 1\n',
    },
    originPolicy: createOriginPolicy({
      authEnabled,
      allowedHosts: [],
      allowedOrigins: [],
      publicUrl: undefined,
      host: '127.0.0.1',
      port: 0,
    }),
    clientAddress: createClientAddress([]),
    page: PAGE,
    openapi: { text: '{"openapi":"3.1.0"}', encoded: {} },
    requestIdPrefix: 'edge',
    version: '1.2.3',
    siteFiles: { find: async () => undefined },
    clock,
    log,
    closing: closing.signal,
    ...given,
  });
  const server = createHttpServer(app, { bodies, clock, log });
  const watching = bodies.run(closing.signal);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  return {
    ...{ asked, counted, clock, log, closing, server, port },
    ...clientOf(port),
    async [Symbol.asyncDispose]() {
      closing.abort();
      await watching;
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

const PAGE: HttpDeps['page'] = {
  html: { text: '<title>Headgate</title>', encoded: {} },
  parts: new Map([['list-0a1b.js', { text: 'headgate.parts.list={}', encoded: {} }]]),
  licenses: { text: 'licences', encoded: {} },
  scriptSources: ["'sha256-AAAA'"],
  styleSources: [],
};

function clientOf(port: number) {
  /** A request exactly as given: unlike `fetch` it may name any Host and Origin. */
  const open = async ({ method = 'GET', path, headers = {}, body }: Sent): Promise<IncomingMessage> => {
    const req = request({ host: '127.0.0.1', port, method, path, headers, agent: false });
    req.on('error', () => undefined); // the test sees an interrupted request by its answer, or by no answer
    req.end(body);
    const [res] = (await once(req, 'response')) as [IncomingMessage];
    return res;
  };
  const send = async (sent: Sent): Promise<{ status: number; headers: IncomingHttpHeaders; text: string }> => {
    const res = await open(sent);
    let text = '';
    for await (const chunk of res.setEncoding('utf8')) text += chunk;
    return { status: res.statusCode ?? 0, headers: res.headers, text };
  };
  /** The status and the body of the answer; of an error without the id of its request, which is checked. */
  const sendJson = async (sent: Sent): Promise<[number, unknown]> => {
    const answer = await send(sent);
    return [answer.status, bodyOf(answer)];
  };
  /** A POST with a JSON body and the `approve` token, unless the headers say otherwise. */
  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    sendJson({
      method: 'POST',
      path,
      headers: { authorization: 'Bearer approve', 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  return { open, send, sendJson, post };
}

const unused = () => {
  throw new Error('not in this test');
};
const notHere = () => Promise.reject(new Error('no attachments'));
const NO_ATTACHMENTS = {
  receive: notHere,
  list: notHere,
  open: notHere,
  remove: notHere,
  staged: { stage: notHere, release: notHere },
};

const NO_EXPORTS = { open: notHere };

const ONE_NODE = {
  here: { nodeId: 'node_1a2b', serverUrl: 'http://127.0.0.1:1' },
  workers: () => new Map<string, string>(),
  standbys: () => new Map<string, string>(),
  onStandbys: () => () => undefined,
  read: async () => [],
  ownerOf: async () => undefined,
  liveOf: async () => undefined,
};

const NO_STREAMS = { open: unused, follow: unused, states: unused, onChange: unused };

const PROOF = new Proof(fakeClock(0), 0);

export function principalWith(scope: Scope, ended = new AbortController().signal): Principal {
  return {
    id: scope,
    scopes: scope === 'service' ? SERVICE_SCOPES : expandScopes([scope]),
    permissions: ALL_PERMISSIONS,
    source: {
      ...{ kind: 'login', jti: `jti-${scope}`, parent: OPERATOR.parent, version: 0 },
      ...{ browser: false, proof: PROOF, expiresAtMs: Number.MAX_SAFE_INTEGER },
    },
    ended,
  };
}

function scopedTokens(enabled: boolean): Authenticator {
  const local: Principal = { ...principalWith('approve'), id: 'local', source: { kind: 'local' } };
  return {
    enabled,
    endOf: () => undefined,
    viewerOf: () => ANYONE,
    async authenticate(token) {
      if (!enabled) return local;
      const scope = TOKEN_SCOPES.find((known) => known === token);
      return scope && principalWith(scope);
    },
  };
}
