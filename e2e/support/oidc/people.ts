import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after } from 'node:test';
import { createGatewayClient, type GatewayClient } from '../../../protocol/client/ws-client.ts';
import type { Stage } from '../daemon/stage.ts';
import { callTools, say } from '../model/scripted-steps.ts';
import { type AccountServer, consentAt } from './account-server.ts';
import { WebVisitor } from './web-visitor.ts';

const PASSWORD = 'correct horse';

/** A user with a browser and a program. */
export interface Person {
  userId: string;
  name: string;
  visitor: WebVisitor;
  client: GatewayClient;
  /** An HTTP request with the person's login. */
  ask(call: string): Promise<{ status: number; body: Record<string, unknown> }>;
  /** Opens the address where consents begin, and goes through with it. Returns the address that the browser is sent back to. */
  consent(options?: { as?: string; refuses?: boolean; scopes?: string }): Promise<string>;
  /** Opens an address of the daemon. Returns where it leads. */
  open(address: string): Promise<string>;
  /** Has the agent call a tool of the server in a workstream. Returns what the model reads. */
  use(tool: string, wsId?: string): Promise<string>;
  /** The same with any tool. */
  useTool(name: string, args: object): Promise<string>;
}

let turns = 0;
let visitors = 0;

/** People who use a tool server of this name with accounts of their own. */
export function peopleOf({ daemon, model }: Stage, server: string) {
  const start = `${daemon.url}/v1/api/mcp/oauth/start?server=${server}`;

  const use = (client: GatewayClient, tool: string, wsId?: string): Promise<string> =>
    useTool(client, { name: `mcp__${server}__${tool}`, args: {} }, wsId);

  async function useTool(
    client: GatewayClient,
    { name, args }: { name: string; args: object },
    given?: string,
  ): Promise<string> {
    turns += 1;
    const message = `turn ${turns}.`;
    model.when(message, callTools({ id: `call_${turns}`, name, arguments: args }), say('Done.'));
    const wsId = given ?? (await client.call('workstream.create', {})).wsId;
    await client.call('agent', { message, sessionKey: wsId, idempotencyKey: randomUUID() }, { timeoutMs: 60_000 });
    return lastToolOutput(model.requests.at(-1)?.body);
  }

  async function newPerson(name: string, roles: string[] = ['builtin-operator']): Promise<Person> {
    const operator = await daemon.client();
    const user = { username: name, displayName: name, password: PASSWORD, roles };
    const { userId } = await operator.call('user.create', user);
    visitors += 1;
    const visitor = new WebVisitor({ address: `10.0.2.${visitors}` });
    const login = await visitor.get(`${daemon.url}/v1/api/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ username: name, password: PASSWORD }),
    });
    const { jwt } = await login.json();
    const client = createGatewayClient({
      url: daemon.wsUrl,
      token: jwt,
      client: { name: 'e2e', version: '1', mode: 'test' },
    });
    await client.connect();
    after(() => client.close());
    return {
      ...{ userId, name, visitor, client },
      async ask(call) {
        const [method = '', path = ''] = call.split(' ');
        const response = await daemon.fetch(path, { method, headers: { authorization: `Bearer ${jwt}` } });
        const text = await response.text();
        return { status: response.status, body: text === '' ? {} : JSON.parse(text) };
      },
      consent: ({ as = `${name}-account`, refuses = false, scopes } = {}) =>
        consentAt(scopes === undefined ? start : `${start}&scopes=${encodeURIComponent(scopes)}`, {
          as,
          visitor,
          back: daemon.url,
          refuses,
        }),
      async open(address) {
        const response = await visitor.get(address);
        await response.body?.cancel();
        return response.headers.get('location') ?? `status ${response.status}`;
      },
      use: (tool, wsId) => use(client, tool, wsId),
      useTool: (name, args) => useTool(client, { name, args }),
    };
  }
  return { newPerson, use, start };
}

function lastToolOutput(body: unknown): string {
  const { messages } = JSON.parse(JSON.stringify(body));
  return messages.findLast(({ role }: { role: string }) => role === 'tool')?.content ?? '';
}

/** The text of an answer of a tool server, without its frame. */
export function inner(output: string): string {
  const lines = output.split('\n');
  assert.ok(lines.length > 2, `an answer of a tool server was expected, not: ${output}`);
  return lines.slice(1, -1).join('\n');
}

/** How the daemon uses the server. */
export const accountConfig = ({ url }: Pick<AccountServer, 'url'>, oauth: object = {}) => ({
  mcp: { servers: { notes: { url, oauth, autoApprove: true } } },
  ratelimit: { trustedProxies: ['127.0.0.1'] },
});
