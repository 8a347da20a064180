import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ResponseFrame } from '../../protocol/frames.ts';
import { LIMITS } from '../../protocol/limits.ts';
import type { TestClient } from '../../src/gateway/testing/test-client.ts';
import { openSocket } from '../support/clients/open-socket.ts';
import { openStage } from '../support/daemon/stage.ts';
import { say } from '../support/model/scripted-steps.ts';

const { model, daemon } = await openStage();

const LONG = 'x'.repeat(900_000);

interface History {
  messages: { content: { text: string }[] }[];
  truncated?: true;
}

const historyOf = async (client: TestClient, limit?: number) =>
  (await client.call('chat.history', { sessionKey: 'long', ...(limit && { limit }) })) as History;

async function sayLong(client: TestClient, numbers: readonly number[]): Promise<void> {
  for (const number of numbers) {
    await client.call('agent', { sessionKey: 'long', message: `${number} ${LONG}`, idempotencyKey: `long ${number}` });
  }
}

test('`chat.history` must leave out the oldest messages beyond 6 MiB, and must say so', async () => {
  model.when('xxx', say('noted'));
  const client = await openSocket(daemon);
  await sayLong(client, [1, 2, 3]);
  const whole = await historyOf(client);
  assert.deepEqual([whole.messages.length, 'truncated' in whole], [6, false]);
  const last = await historyOf(client, 5);
  assert.deepEqual([last.messages.length, last.truncated], [5, true]);
  await sayLong(client, [4, 5, 6, 7, 8]);
  const cut = await historyOf(client);
  const bytes = Buffer.byteLength(JSON.stringify(cut.messages));
  assert.deepEqual(
    [cut.truncated, bytes > LIMITS.chatHistoryBytes - 910_000, bytes <= LIMITS.chatHistoryBytes],
    [...[true, true, true]],
  );
  assert.equal(cut.messages.at(-2)?.content[0]?.text.slice(0, 2), '8 ', 'the newest messages are included');
  client.socket.close();
});

test('a client that requests many long histories without reading them gets BUSY, so memory stays bounded', async () => {
  const client = await openSocket(daemon);
  client.socket.pause();
  const asked = Array.from({ length: 40 }, () => client.request('chat.history', { sessionKey: 'long' }));
  const other = await openSocket(daemon);
  await historyOf(other); // all requests before it have been answered
  client.socket.resume();
  const answers: ResponseFrame[] = await Promise.all(asked);
  const codes = answers.map(({ ok, error }) => (ok ? 'ok' : error?.code));
  assert.deepEqual([...new Set(codes)].sort(), ['BUSY', 'ok']);
  assert.ok(codes.filter((code) => code === 'ok').length >= 2);
  assert.equal((await historyOf(client)).truncated, true, 'a client that reads again gets answers again');
  for (const { socket } of [client, other]) socket.close();
});
