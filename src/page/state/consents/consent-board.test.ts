import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFakeClient } from '../fake-client.ts';
import { ConsentBoard } from './consent-board.ts';

const url = 'http://127.0.0.1:7717/v1/api/mcp/oauth/start?server=notes';

test('servers with accounts are listed with the account of the person and what calls needed', async () => {
  const { client, answer, calls } = createFakeClient();
  const consent = { server: 'old', scopes: ['read'], connectedAtMs: 1, expiresAtMs: null };
  const pending = { server: 'notes', code: 'mcp_consent_required', scopes: ['write'], url, sinceMs: 2 };
  answer('mcp.consent.list', () => ({ consents: [consent], servers: [{ server: 'notes', url }] }));
  answer('mcp.consent.pending', () => ({ isUsed: true, pending: [pending] }));
  answer('mcp.consent.remove', () => ({ status: 'ok' }));
  const board = new ConsentBoard(client);
  assert.equal(board.servers.value, undefined);
  await board.read();
  assert.deepEqual(board.servers.value, [
    { name: 'notes', url, consent: undefined, pending },
    { name: 'old', url: undefined, consent, pending: undefined },
  ]);
  calls.length = 0;
  assert.equal(await board.disconnect('old'), undefined);
  assert.deepEqual(
    calls.map(([method]) => method),
    ['mcp.consent.remove', 'mcp.consent.list', 'mcp.consent.pending'],
  );
  assert.match((await board.dismiss('notes')) ?? '', /no answer/);
});
