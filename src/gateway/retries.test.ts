import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ParamsInput } from '../../protocol/index.ts';
import type { ServedMethod } from './call.ts';
import { openNodeGateway } from './testing/node-gateway.ts';
import { wholeGateway } from './testing/whole-gateway.ts';

const RETRIES = 1_000;
const RESTARTS = 4;

/** Calls a method many times with one key, at once and over restarts; returns how often each answer was given. */
async function retry<M extends ServedMethod>(
  gateway: Pick<Awaited<ReturnType<typeof wholeGateway>>, 'call' | 'restart'>,
  method: M,
  params: ParamsInput<M>,
): Promise<string[]> {
  const answers = new Set<string>();
  for (let round = 0; round <= RESTARTS; round += 1) {
    if (round > 0) await gateway.restart();
    const calls = Array.from({ length: RETRIES / (RESTARTS + 1) }, () => gateway.call(method, params));
    for (const answer of await Promise.all(calls)) answers.add(JSON.stringify(answer));
  }
  return [...answers];
}

test('a thousand retries of agent at once and over restarts are one run with one answer', async () => {
  await using gateway = await wholeGateway();
  const answers = await retry(gateway, 'agent', { message: 'once', idempotencyKey: 'k' });
  assert.deepEqual(answers, ['{"runId":"k","status":"ok","summary":"completed"}']);
  assert.equal(gateway.puppet.requests.length, 1);
});

test('a thousand retries of chat.send at once and over restarts are one message', async () => {
  await using gateway = await wholeGateway();
  await retry(gateway, 'chat.send', { sessionKey: 'main', message: 'once', idempotencyKey: 'k' });
  const { messages } = await gateway.call('chat.history', { sessionKey: 'main' });
  assert.equal(messages.filter(({ role }) => role === 'user').length, 1);
});

test('a thousand retries of send at once and over restarts are one queued message', async () => {
  await using gateway = await wholeGateway();
  const { wsId } = await gateway.call('workstream.create', {});
  const answers = await retry(gateway, 'send', { to: wsId, message: 'once', idempotencyKey: 'k' });
  const rows = await gateway.store.db.selectFrom('outbox').selectAll().execute();
  assert.deepEqual([answers.length, rows.length], [1, 1]);
});

test('a thousand retries of workstream.create at once and over restarts are one workstream', async () => {
  await using gateway = await wholeGateway();
  const before = (await gateway.call('workstream.list', {})).workstreams.length;
  const answers = await retry(gateway, 'workstream.create', { idempotencyKey: 'k' });
  const after = (await gateway.call('workstream.list', {})).workstreams.length;
  assert.deepEqual([answers.length, after - before], [1, 1]);
});

const JOB = {
  schedule: { kind: 'at', atMs: 4_000_000_000_000 },
  sessionTarget: 'main',
  wakeMode: 'next-heartbeat',
  payload: { kind: 'systemEvent', text: 'once' },
} as const;

test('a thousand retries of cron.add at once and over restarts are one job', async () => {
  await using gateway = await wholeGateway();
  const answers = await retry(gateway, 'cron.add', { ...JOB, idempotencyKey: 'k' });
  assert.deepEqual([answers.length, (await gateway.call('cron.list', {})).jobs.length], [1, 1]);
});

test('a thousand retries of cron.run at once and over restarts are one run', async () => {
  await using gateway = await wholeGateway();
  const stop = new AbortController();
  void gateway.gateway.run(stop.signal);
  const { id } = await gateway.call('cron.add', JOB);
  const answers = await retry(gateway, 'cron.run', { id, mode: 'force', wait: false, idempotencyKey: 'k' });
  const { entries } = await gateway.call('cron.runs', { id, extended: true });
  stop.abort();
  assert.deepEqual([answers, entries.length], [['{"ok":true,"ran":true}'], 1]);
});

test('a thousand retries of node.invoke at once and over restarts are one command', async () => {
  await using gateway = await openNodeGateway();
  const token = await gateway.pair('n1');
  const asked = { nodeId: 'n1', command: 'camera.snap', idempotencyKey: 'k' };
  const sent: string[] = [];
  const join = async () => {
    const node = await gateway.connect({ nodeId: 'n1', token });
    node.socket.on('message', (data) => {
      const { event, payload } = JSON.parse(data.toString());
      if (event !== 'node.invoke.request') return;
      const { id } = payload;
      sent.push(id);
      void node.call('node.invoke.result', { id, nodeId: 'n1', ok: true, payload: sent.length });
    });
  };
  await join();
  const answers = await retry({ ...gateway, restart: () => gateway.restart().then(join) }, 'node.invoke', asked);
  assert.deepEqual([sent.length, answers.length], [1, 1]);
});
