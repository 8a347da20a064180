import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LIMITS } from '../../../protocol/limits.ts';
import { fakeWire } from '../testing/fake-wire.ts';
import { createFrameJoin, Outbox } from './outbox.ts';

const BUDGET = 1_000;

function openOutbox({ isStalled = false } = {}) {
  const { wire, writes, drain } = fakeWire({ isStalled });
  const turn: (() => void)[] = [];
  let reliefs = 0;
  const owner = { onRelief: () => void reliefs++ };
  const outbox = new Outbox(wire, owner, {
    maxBufferedBytes: BUDGET,
    defer: (task) => void turn.push(task),
    join: createFrameJoin(),
  });
  return {
    outbox,
    drain,
    reliefs: () => reliefs,
    written: () => writes.map(String),
    endTurn: () => {
      for (const task of turn.splice(0)) task();
    },
  };
}

const bytes = (count: number) => Buffer.alloc(count, 'x');

test('all frames of one turn are sent in one write', () => {
  const { outbox, written, endTurn } = openOutbox();
  outbox.push(Buffer.from('a'));
  outbox.answer(Buffer.from('b'));
  outbox.push(Buffer.from('c'));
  assert.deepEqual(written(), []);
  endTurn();
  outbox.push(Buffer.from('d'));
  endTurn();
  assert.deepEqual(written(), ['abc', 'd']);
});

test('an answer in pieces follows what waits for the end of the turn, and does not count as slowness', () => {
  const { outbox, written, drain } = openOutbox({ isStalled: true });
  outbox.push(Buffer.from('a'));
  outbox.answerAtOnce([bytes(BUDGET), Buffer.from('b')]);
  assert.deepEqual(written(), ['a', `${'x'.repeat(BUDGET)}b`]);
  assert.equal(outbox.isClogged(), true);
  assert.equal(outbox.isOver(), false);
  drain();
  assert.equal(outbox.isClogged(), false);
  outbox.close();
  outbox.answerAtOnce([Buffer.from('c')]);
  assert.equal(written().length, 2);
});

test('a client exceeds its budget only if the system does not accept what was written', () => {
  const fast = openOutbox();
  fast.outbox.push(bytes(BUDGET + 1));
  assert.equal(fast.outbox.isOver(), false);
  assert.equal(fast.written().length, 1, 'it was written at once to find out');

  const slow = openOutbox({ isStalled: true });
  slow.outbox.push(bytes(BUDGET));
  assert.equal(slow.outbox.isOver(), false, 'exactly the budget');
  slow.outbox.push(bytes(1));
  assert.equal(slow.outbox.isOver(), true);
});

test('answers pause reading from a client, but do not count against it at a broadcast', () => {
  const { outbox, drain } = openOutbox({ isStalled: true });
  outbox.answer(bytes(BUDGET + 1));
  assert.deepEqual([outbox.isOver(), outbox.isClogged()], [false, true]);
  outbox.push(bytes(BUDGET));
  assert.equal(outbox.isOver(), false);
  outbox.push(bytes(1));
  assert.equal(outbox.isOver(), true);
  drain();
  assert.deepEqual([outbox.isOver(), outbox.isClogged()], [false, false]);
});

test('a reader stops at a quarter of the budget, and resumes when there is room again', () => {
  const { outbox, drain, endTurn, reliefs } = openOutbox({ isStalled: true });
  outbox.push(bytes(BUDGET / 4 - 1));
  assert.equal(outbox.isReady(), true);
  outbox.push(bytes(1));
  assert.equal(outbox.isReady(), false);
  endTurn();
  assert.equal(reliefs(), 0, 'written, but nobody has read it');
  drain();
  assert.deepEqual([reliefs(), outbox.isReady()], [1, true]);
});

test('relief is reported only to waiting readers', () => {
  const { outbox, drain, endTurn, reliefs } = openOutbox({ isStalled: true });
  outbox.push(bytes(BUDGET));
  endTurn();
  drain();
  assert.equal(reliefs(), 0);
});

test('a closed outbox discards what is queued and accepts no more', () => {
  const { outbox, endTurn, written } = openOutbox();
  outbox.push(Buffer.from('a'));
  outbox.close();
  outbox.push(Buffer.from('b'));
  endTurn();
  assert.deepEqual([written(), outbox.isReady()], [[], false]);
});

test('frames are joined once for clients that get the same frames', () => {
  const join = createFrameJoin();
  const [a, b] = [Buffer.from('a'), Buffer.from('b')];
  const both = join([a, b]);
  assert.equal(join([a, b]), both);
  assert.deepEqual([both, join([b, a]), join([a, b, a]), join([a])].map(String), ['ab', 'ba', 'aba', 'a']);
});

test('a client with unread large answers gets no other one until it has read some', () => {
  const { outbox, drain, endTurn } = openOutbox({ isStalled: true });
  const large = LIMITS.unreadAnswerBytes / 2;
  assert.equal(outbox.hasRoomFor(3 * large), true, 'nothing waits');
  outbox.answer(bytes(large));
  assert.equal(outbox.hasRoomFor(large), true, 'exactly the budget');
  outbox.answer(bytes(large));
  assert.deepEqual([outbox.hasRoomFor(LIMITS.largeAnswerBytes), outbox.hasRoomFor(100)], [false, true]);
  endTurn();
  drain();
  assert.equal(outbox.hasRoomFor(large), true);
});
