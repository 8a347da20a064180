import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MethodName, ParamsInput } from '../../protocol/index.ts';
import { callerOf, wholeGateway } from './testing/whole-gateway.ts';

const RETRIES = 1_000;
const RESTARTS = 4;

/** Calls a method so often under one key, at once and over restarts; answers how often each answer was given. */
async function retry<M extends MethodName>(
  gateway: Awaited<ReturnType<typeof wholeGateway>>,
  method: M,
  params: ParamsInput<M>,
): Promise<string[]> {
  const answers = new Set<string>();
  for (let round = 0; round <= RESTARTS; round += 1) {
    if (round > 0) await gateway.restart();
    const calls = Array.from({ length: RETRIES / (RESTARTS + 1) }, () =>
      gateway.gateway.dispatch(method, params, callerOf()),
    );
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

test('a thousand retries of send at once and over restarts are one message on its way', async () => {
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
