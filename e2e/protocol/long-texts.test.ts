import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openSocket } from '../support/clients/open-socket.ts';
import { openStage } from '../support/daemon/stage.ts';
import { say } from '../support/model/scripted-steps.ts';

const { model, daemon } = await openStage();

const MOST = 64 * 1024;
const JOB = { schedule: { kind: 'at', atMs: Date.UTC(2090, 0) }, sessionTarget: 'main', wakeMode: 'next-heartbeat' };
const CALLS: Record<string, (text: string) => object> = {
  wake: (text) => ({ mode: 'next-heartbeat', text }),
  'system-event': (text) => ({ text }),
  'cron.add': (text) => ({ ...JOB, payload: { kind: 'systemEvent', text } }),
};

test('the texts of wake, system-event and a job’s systemEvent are limited to exactly 64 KiB', async () => {
  const client = await openSocket(daemon);
  for (const [method, toParams] of Object.entries(CALLS)) {
    assert.equal((await client.request(method, toParams('x'.repeat(MOST)))).ok, true, method);
    const { error } = await client.request(method, toParams('x'.repeat(MOST + 1)));
    assert.match(`${error?.code} ${error?.message}`, /^INVALID_REQUEST .*text: must have at most 65536 characters$/);
  }
  client.socket.close();
});

test('a text of 64 KiB reaches the next turn of the main session complete', async () => {
  const client = await openSocket(daemon);
  const text = `begin ${'y'.repeat(MOST - 10)} end`;
  assert.equal(text.length, MOST);
  await client.call('wake', { mode: 'next-heartbeat', text });
  model.when('what is new', say('heard'));
  await client.call('agent', { message: 'what is new', idempotencyKey: 'new' });
  const { messages } = (await client.call('chat.history', { sessionKey: 'main' })) as { messages: unknown[] };
  assert.equal(JSON.stringify(messages).includes(text), true);
  client.socket.close();
});
