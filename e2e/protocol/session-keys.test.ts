import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HelloOk } from '../../protocol/connect.ts';
import { HealthSummary } from '../../protocol/methods/health.ts';
import { CONNECT, openClient, type TestClient } from '../../src/gateway/testing/test-client.ts';
import { openSocket } from '../support/clients/open-socket.ts';
import { openStage } from '../support/daemon/stage.ts';
import { callTools, say } from '../support/model/scripted-steps.ts';

const { model, daemon } = await openStage();

/** The session keys in something that a client received. */
function keysIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const inner = Object.values(value).flatMap((part) => keysIn(part));
  const own = Object.entries(value).flatMap(([name, key]) =>
    (name === 'sessionKey' || name === 'key') && typeof key === 'string' ? [key] : [],
  );
  return [...own, ...inner];
}

const idOf = async (client: TestClient, sessionKey: string): Promise<string> =>
  ((await client.call('chat.history', { sessionKey })) as { sessionId: string }).sessionId;

const chatEvents = (client: TestClient) => client.events().filter(({ event }) => event === 'chat');
const finals = (client: TestClient) =>
  chatEvents(client).map(({ payload }) => payload as { sessionKey: string; state: string; runId: string });

async function turn(client: TestClient, sessionKey: string, idempotencyKey: string): Promise<void> {
  await client.call('agent', { sessionKey, message: `turn ${idempotencyKey}`, idempotencyKey });
}

test('A session created by an alias must have this alias as its key in every frame and answer', async () => {
  model.when('turn', say('hello'));
  model.when('ask me', callTools({ name: 'bash', arguments: { command: 'touch asked' } }), say('asked'));
  const client = await openSocket(daemon);
  await turn(client, 'notes', 'n1');
  const wsId = await idOf(client, 'notes');
  assert.match(wsId, /^[0-9a-f]{32}$/);
  const asked = client.request('agent', { sessionKey: wsId, message: 'ask me', idempotencyKey: 'n2' });
  const { payload } = await client.event('approval.requested');
  const { approvalId } = payload as { approvalId: string };
  const answers = {
    history: await client.call('chat.history', { sessionKey: wsId }),
    list: await client.call('sessions.list', {}),
    resolved: await client.call('sessions.resolve', { sessionId: wsId }),
    patched: await client.call('sessions.patch', { key: wsId, verboseLevel: 'on' }),
    status: await client.call('status'),
    health: await client.call('health'),
    approvals: await client.call('approval.list', {}),
    loaded: await client.call('workstream.list', {}),
    workstream: await client.call('workstream.get', { wsId }),
    preview: await client.call('sessions.preview', { keys: ['notes'] }),
  };
  await client.call('approval.resolve', { approvalId, approved: false });
  assert.equal((await asked).ok, true);
  for (const [what, answer] of Object.entries(answers)) {
    const others = keysIn(answer).filter((key) => key !== 'main' && key !== 'notes');
    assert.deepEqual(others, [], `${what} names no other key`);
  }
  for (const what of ['history', 'list', 'resolved', 'patched', 'status', 'health', 'approvals', 'loaded'] as const) {
    assert.ok(keysIn(answers[what]).includes('notes'), `${what} names the alias: ${JSON.stringify(answers[what])}`);
  }
  const told = client.events().flatMap((event) => keysIn(event));
  assert.deepEqual([...new Set(told)], ['notes'], 'all events name the alias');
  client.socket.close();
});

test('the alias stays the key after a rename and after a restart', async () => {
  const client = await openSocket(daemon);
  await turn(client, 'garden', 'g1');
  const wsId = await idOf(client, 'garden');
  await client.call('workstream.command', { wsId, command: '/name allotment' });
  client.socket.close();
  await daemon.restart();
  const after = await openSocket(daemon);
  await turn(after, 'allotment', 'g2');
  await turn(after, wsId, 'g3');
  await turn(after, 'garden', 'g4');
  const ends = finals(after).filter(({ state }) => state === 'final');
  assert.deepEqual(
    ends.map(({ runId, sessionKey }) => [runId, sessionKey]),
    [
      ['g2', 'garden'],
      ['g3', 'garden'],
      ['g4', 'garden'],
    ],
  );
  assert.equal(await idOf(after, 'allotment'), wsId);
  after.socket.close();
});

test('after a session is deleted, its alias creates a new session with the same key', async () => {
  const client = await openSocket(daemon);
  await turn(client, 'scratch', 's1');
  const first = await idOf(client, 'scratch');
  assert.deepEqual(await client.call('sessions.delete', { key: 'scratch' }), {
    ...{ ok: true, key: 'scratch', deleted: true, archived: [] },
  });
  await turn(client, 'scratch', 's2');
  assert.notEqual(await idOf(client, 'scratch'), first);
  const seen = finals(client).map(({ runId, sessionKey }) => `${runId} ${sessionKey}`);
  assert.deepEqual([...new Set(seen)], ['s1 scratch', 's2 scratch']);
  client.socket.close();
});

test('twenty concurrent first messages to one alias create one session with that key', async () => {
  const client = await openSocket(daemon);
  const sent = Array.from({ length: 10 }, (_, n) => turn(client, 'crowd', `c${n}`));
  const patched = Array.from({ length: 10 }, () => client.call('sessions.patch', { key: 'crowd' }));
  const keys = (await Promise.all(patched)) as { key: string; entry: { sessionId: string } }[];
  await Promise.all(sent);
  assert.deepEqual([...new Set(keys.map(({ key, entry }) => `${key} ${entry.sessionId}`))].length, 1);
  assert.equal(keys[0]?.key, 'crowd');
  client.socket.close();
});

test('health and the snapshot of hello-ok have all fields that clients of the specification display', async () => {
  const first = await openSocket(daemon);
  await turn(first, 'latest', 'l1');
  const health = (await first.call('health')) as HealthSummary;
  const status = (await first.call('status')) as { sessions: { count: number; path: string } };
  const client = await openClient(daemon.wsUrl, {});
  const hello = (await client.call('connect', { ...CONNECT, auth: { token: daemon.token } })) as HelloOk;
  const snapshot = HealthSummary.parse(hello.snapshot.health);
  for (const { web, telegram, heartbeatSeconds, sessions } of [health, snapshot]) {
    const { path, count, recent } = sessions;
    const [latest] = recent;
    assert.deepEqual(
      { web, telegram, heartbeatSeconds, path, count, key: latest?.key, isShort: recent.length <= 5 },
      {
        ...{ web: { linked: false }, telegram: { configured: false }, heartbeatSeconds: 0 },
        ...{ path: status.sessions.path, count: status.sessions.count, key: 'latest', isShort: true },
      },
    );
    assert.ok((latest?.age ?? -1) >= 0 && (latest?.updatedAt ?? 0) > 0);
  }
  for (const { socket } of [first, client]) socket.close();
});
