import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ChannelPart } from '../../../../protocol/methods/channels/channel.ts';
import { createFakeClient } from '../fake-client.ts';
import { DeliveryLog } from './delivery-log.ts';

const STATES: ChannelPart['state'][] = ['accepted', 'failed', 'sending', 'ambiguous', 'unsent'];
const part = (at: number): ChannelPart => ({
  ...{ channel: 'telegram', to: '1', messageId: `m${at}`, part: 0, atMs: 1 },
  state: STATES[at % STATES.length] ?? 'unsent',
});

/** A daemon that has sent `count` parts. */
function opened(count: number) {
  const fake = createFakeClient();
  fake.answer('channel.part.list', ({ limit }: { limit: number }) => ({
    parts: Array.from({ length: Math.min(limit, count) }, (_, at) => part(at)),
  }));
  return { ...fake, log: new DeliveryLog(fake.client) };
}

test('what was sent is read when it is shown, and with each tick', async () => {
  const { log, calls, emit } = opened(3);
  const stop = log.follow();
  await log.read();
  assert.equal(log.shown.value?.length, 3);
  emit('tick', {});
  stop();
  emit('tick', {});
  assert.equal(calls.length, 3);
});

test('parts that arrived or are on their way can be left out', async () => {
  const { log } = opened(5);
  await log.read();
  log.onlyProblems.value = true;
  assert.deepEqual(
    log.shown.value?.map(({ state }) => state),
    ['failed', 'ambiguous'],
  );
  assert.equal(log.parts.value?.length, 5);
});

test('older parts can be read until there are none, or as many as the daemon lists', async () => {
  const few = opened(60).log;
  await few.read();
  assert.deepEqual([few.parts.value?.length, few.hasMore.value], [50, true]);
  await few.more();
  assert.deepEqual([few.parts.value?.length, few.hasMore.value], [60, false]);
  const many = opened(1_000).log;
  await many.read();
  for (let reads = 0; many.hasMore.value && reads < 10; reads += 1) await many.more();
  assert.deepEqual([many.parts.value?.length, many.hasMore.value], [500, false]);
});
