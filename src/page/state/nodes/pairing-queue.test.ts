import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pairing } from './node-fixture.ts';
import { PairingQueue } from './pairing-queue.ts';

function open() {
  const queue = new PairingQueue();
  /** Reads a list of the daemon: the newest first. */
  const update = (ids: string[], { aheadMs = 0, keepsEnded = true } = {}) =>
    queue.update(
      ids.map((requestId) => pairing({ requestId })),
      { aheadMs, keepsEnded },
    );
  const shown = () => queue.asking.value.map(({ request, outcome = 'waits' }) => `${request.requestId} ${outcome}`);
  return { queue, update, shown };
}

test('the oldest request comes first, and new ones are added at the end', () => {
  const { update, shown } = open();
  update(['b', 'a']);
  update(['d', 'c', 'b', 'a']);
  assert.deepEqual(shown(), ['a waits', 'b waits', 'c waits', 'd waits']);
});

test('a finished request keeps its place and shows its outcome until it is dismissed', () => {
  const { queue, update, shown } = open();
  update(['c', 'b', 'a']);
  queue.resolve({ requestId: 'a', decision: 'rejected' });
  update(['c', 'b']);
  update(['c']);
  assert.deepEqual(shown(), ['a rejected', 'b expired', 'c waits']);
  queue.dismiss('a');
  assert.deepEqual(shown(), ['b expired', 'c waits']);
});

test('an outdated list does not reopen a finished request', () => {
  const { queue, update, shown } = open();
  update(['a']);
  queue.resolve({ requestId: 'a', decision: 'approved' });
  update(['a']);
  assert.deepEqual(shown(), ['a approved']);
});

test('while the panel is closed, finished requests are dropped', () => {
  const { queue, update, shown } = open();
  update(['b', 'a']);
  queue.resolve({ requestId: 'a', decision: 'approved' });
  update([], { keepsEnded: false });
  assert.deepEqual(shown(), []);
  update(['d', 'c']);
  queue.resolve({ requestId: 'c', decision: 'approved' });
  queue.forgetEnded();
  assert.deepEqual(shown(), ['d waits']);
});

test('a machine that keeps asking leaves at most five finished requests and removes no waiting one', () => {
  const { update, shown } = open();
  update(['real']);
  for (let turn = 1; turn <= 9; turn += 1) update([`t${turn}`, 'real']);
  assert.deepEqual(shown(), ['real waits', ...[4, 5, 6, 7, 8].map((turn) => `t${turn} expired`), 't9 waits']);
});

test('the expiry is given by the clock of the browser', () => {
  const { queue, update } = open();
  update(['a']);
  assert.equal(queue.asking.value[0]?.endsAtMs, 301_000);
  update(['a'], { aheadMs: 250 });
  assert.equal(queue.asking.value[0]?.endsAtMs, 300_750);
});
