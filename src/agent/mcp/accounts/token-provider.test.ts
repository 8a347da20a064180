import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../../clock.ts';
import { openRemote } from '../open-remote.ts';
import { fakeServer } from '../servers-fixture.ts';
import type { Accounts } from './accounts.ts';
import { ConsentProblem } from './consent-problem.ts';
import { NO_ACCOUNTS } from './no-accounts-fixture.ts';

const url = 'https://notes.example/mcp';
const missing = new ConsentProblem({ code: 'mcp_consent_required', server: 'notes', detail: 'Connect an account.' });

/** A session with a server of the revisions that have them, in place of `fetch`; without an account after `disconnect`. */
async function setUp() {
  const state = { isConnected: true, needed: 0 };
  const seen: string[] = [];
  const accounts: Accounts = {
    ...NO_ACCOUNTS,
    token: async () => {
      if (state.isConnected) return 'token-1';
      throw missing;
    },
    needs: async () => {
      state.needed += 1;
      return missing;
    },
  };
  const answer = async (init: RequestInit | undefined): Promise<Response> => {
    const { method = 'GET', body } = init ?? {};
    const asked = typeof body === 'string' ? JSON.parse(body) : {};
    seen.push(`${method} ${asked.method ?? ''} ${new Headers(init?.headers).get('authorization')}`);
    if (method === 'GET') return new Response('', { status: 405 });
    if (method === 'DELETE') return new Response('', { status: 200 });
    if (asked.id === undefined) return new Response('', { status: 202 });
    const about = { capabilities: { tools: {} }, serverInfo: { name: 'n', version: '1' } };
    const reply =
      asked.method === 'initialize'
        ? { result: { protocolVersion: asked.params.protocolVersion, ...about } }
        : { error: { code: -32_601, message: 'no such method' } };
    return Response.json({ jsonrpc: '2.0', id: asked.id, ...reply }, { headers: { 'mcp-session-id': 's1' } });
  };
  const config = { ...fakeServer('none'), command: undefined, url, headers: {}, oauth: { scopes: [] } };
  const account = { server: { name: 'notes', url, oauth: { scopes: [] } }, user: 'ada', accounts };
  const { signal } = new AbortController();
  const session = await openRemote(
    { config, url, account },
    { signal, onListsChanged: () => undefined },
    { environment: {}, fetch: (_, init) => answer(init), clock: systemClock, version: '1' },
  );
  return { session, state, seen, signal };
}

test('the end of a session is told with the last token when the account is gone, and nobody waits for another', async () => {
  const { session, state, seen } = await setUp();
  state.isConnected = false;
  await session.close();
  assert.deepEqual([seen.at(-1), state.needed], ['DELETE  Bearer token-1', 0]);
});

test('a call without an account waits for one', async () => {
  const { session, state, signal } = await setUp();
  state.isConnected = false;
  await assert.rejects(session.list('tools', signal), missing);
  assert.equal(state.needed, 1);
  await session.close();
});
