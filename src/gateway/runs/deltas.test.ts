import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StreamEvent } from '../../../protocol/stream-events.ts';
import { Deltas } from './deltas.ts';

const piece = (text: string): StreamEvent => ({ type: 'content', text });

const eventsOf = (taken: ReturnType<Deltas['take']>): StreamEvent[] => taken.map(({ event }) => event);

test('pieces that follow a lost one wait with it, so that the next step stores them in order', async () => {
  const stored: StreamEvent[] = [];
  let isAway = true;
  const deltas = new Deltas(async (event) => {
    if (isAway) throw new Error('the database is away');
    stored.push(event);
  });
  deltas.tell(piece('one '));
  await new Promise(setImmediate);
  assert.throws(() => deltas.throwFailure(), /the database is away/);
  isAway = false;
  deltas.tell(piece('two '));
  assert.deepEqual([stored, eventsOf(deltas.take())], [[], [piece('one '), piece('two ')]]);
  deltas.tell(piece('three '));
  assert.deepEqual(stored, [piece('three ')]);
});

test('a piece that was refused while the fate of earlier ones was unknown is stored behind them', async () => {
  const lost = Promise.withResolvers<void>();
  const deltas = new Deltas((event) =>
    event.type === 'content' && event.text === 'three ' ? Promise.reject(new Error('away')) : lost.promise,
  );
  deltas.tell(piece('one '));
  deltas.tell(piece('two '));
  deltas.tell(piece('three '));
  await new Promise(setImmediate);
  assert.throws(() => deltas.throwFailure(), /away/);
  assert.throws(() => deltas.take(), /away/, 'a step must not store the third one before the others');
  lost.reject(new Error('the commit did not reach the server'));
  await new Promise(setImmediate);
  assert.throws(() => deltas.throwFailure(), /did not reach/);
  deltas.tell(piece('four '));
  assert.deepEqual(eventsOf(deltas.take()), ['one ', 'two ', 'three ', 'four '].map(piece));
});

test('pieces of a step that was not stored are kept before those that came meanwhile', async () => {
  let isAway = true;
  const deltas = new Deltas(async () => {
    if (isAway) throw new Error('away');
  });
  deltas.tell(piece('one '));
  await new Promise(setImmediate);
  assert.throws(() => deltas.throwFailure(), /away/);
  const taken = deltas.take();
  deltas.tell(piece('two '));
  await new Promise(setImmediate);
  assert.throws(() => deltas.throwFailure(), /away/);
  deltas.giveBack(taken);
  isAway = false;
  assert.deepEqual(eventsOf(deltas.take()), [piece('one '), piece('two ')]);
});
