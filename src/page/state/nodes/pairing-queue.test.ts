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

test('the first one comes first, and new ones come at the end', () => {
  const { update, shown } = open();
  update(['b', 'a']);
  update(['d', 'c', 'b', 'a']);
  assert.deepEqual(shown(), ['a waits', 'b waits', 'c waits', 'd waits']);
});

test('what is over stays in its place with its outcome, until it is dismissed', () => {
  const { queue, update, shown } = open();
  update(['c', 'b', 'a']);
  queue.resolve({ requestId: 'a', decision: 'rejected' });
  update(['c', 'b']);
  update(['c']);
  assert.deepEqual(shown(), ['a rejected', 'b expired', 'c waits']);
  queue.dismiss('a');
  assert.deepEqual(shown(), ['b expired', 'c waits']);
});

test('a list that was on its way since before makes nothing wait again that is over', () => {
  const { queue, update, shown } = open();
  update(['a']);
  queue.resolve({ requestId: 'a', decision: 'approved' });
  update(['a']);
  assert.deepEqual(shown(), ['a approved']);
});

test('where nobody looks nothing is kept of what is over', () => {
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

test('a machine that asks again and again leaves five ended requests, and pushes out none that waits', () => {
  const { update, shown } = open();
  update(['real']);
  for (let turn = 1; turn <= 9; turn += 1) update([`t${turn}`, 'real']);
  assert.deepEqual(shown(), ['real waits', ...[4, 5, 6, 7, 8].map((turn) => `t${turn} expired`), 't9 waits']);
});

test('its end is told in the time of this browser', () => {
  const { queue, update } = open();
  update(['a']);
  assert.equal(queue.asking.value[0]?.endsAtMs, 301_000);
  update(['a'], { aheadMs: 250 });
  assert.equal(queue.asking.value[0]?.endsAtMs, 300_750);
});
