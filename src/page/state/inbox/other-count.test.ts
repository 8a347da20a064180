import assert from 'node:assert/strict';
import { test } from 'node:test';
import { signal } from '@preact/signals';
import { createFakeClient } from '../fake-client.ts';
import { OtherCount } from './other-count.ts';

function setUp(isAllowed: boolean) {
  const { client, answer, calls, emit } = createFakeClient();
  answer('memory.quarantine.list', () => ({ memories: [{}], total: 5 }));
  answer('channel.sender.list', () => ({ senders: [{ status: 'pending' }, { status: 'approved' }] }));
  answer('mcp.consent.pending', () => ({ pending: [{}, {}] }));
  const allowed = signal(isAllowed);
  const rights = { decide: allowed, releaseMemories: allowed, manageChannels: allowed };
  return { others: new OtherCount({ client, rights }), answer, calls, emit };
}

test('people who wait for approval, accounts and memories are counted, again with each tick', async () => {
  const { others, answer, emit } = setUp(true);
  await others.read();
  assert.equal(others.count.value, 8);
  answer('mcp.consent.pending', () => ({ pending: [] }));
  emit('tick', { ts: 1 });
  await new Promise(setImmediate);
  assert.equal(others.count.value, 6);
  answer('mcp.consent.pending', () => {
    throw new Error('no connection');
  });
  await others.read();
  assert.equal(others.count.value, 6, 'what was known stays');
});

test('nothing is asked for what a person may not decide', async () => {
  const { others, calls } = setUp(false);
  await others.read();
  assert.deepEqual([others.count.value, calls], [0, []]);
});

test('the count that was asked for last stays, also if an earlier one comes later', async () => {
  const { others, answer } = setUp(true);
  const early = Promise.withResolvers<object>();
  const answers = [early.promise, { pending: [] }];
  answer('mcp.consent.pending', () => answers.shift());
  const first = others.read();
  await others.read();
  early.resolve({ pending: [{}, {}] });
  await first;
  assert.equal(others.count.value, 6);
});
