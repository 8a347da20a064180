import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toLogEntry } from './log-entry.ts';
import { createTail } from './tail.ts';

const LOG = { wsId: 'w', epoch: 'e1' };
const entries = (first: number, last: number, chars = 10) =>
  Array.from({ length: last - first + 1 }, (_, n) => toLogEntry(LOG, { offset: first + n, json: 'x'.repeat(chars) }));
const offsets = (held: readonly { offset: number }[] | undefined) => held?.map(({ offset }) => offset);

test('a tail returns the entries after an offset, and undefined if it does not reach back', () => {
  const tail = createTail();
  assert.equal(tail.after(0), undefined, 'an empty one knows nothing');
  tail.push(entries(5, 8));
  assert.deepEqual(
    [3, 4, 6, 8, 9].map((offset) => offsets(tail.after(offset))),
    [undefined, [5, 6, 7, 8], [7, 8], [], []],
  );
});

test('a tail is trimmed to its number of events, in steps', () => {
  const tail = createTail({ maxEntries: 8 });
  tail.push(entries(1, 10));
  assert.equal(tail.after(0)?.length, 10);
  tail.push(entries(11, 11));
  assert.equal(tail.after(2), undefined);
  assert.deepEqual(offsets(tail.after(3)), [4, 5, 6, 7, 8, 9, 10, 11]);
});

test('a tail is trimmed to its size, but always keeps the newest event', () => {
  const tail = createTail({ maxChars: 100 });
  tail.push(entries(1, 12));
  assert.equal(tail.after(0)?.length, 12);
  tail.push(entries(13, 13));
  assert.deepEqual(offsets(tail.after(3)), [4, 5, 6, 7, 8, 9, 10, 11, 12, 13]);
  assert.equal(tail.after(2), undefined);
  tail.push(entries(14, 14, 1_000));
  assert.deepEqual(offsets(tail.after(13)), [14]);
  assert.equal(tail.after(12), undefined);
  tail.push(entries(15, 15));
  assert.deepEqual(offsets(tail.after(14)), [15], 'the large one went, and its size with it');
});
