import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLogRing } from './log-ring.ts';

const ALL = { limit: 5_000, maxBytes: 1_000_000 };

test('a cursor continues where the last answer ended', () => {
  const ring = createLogRing('s1');
  for (const line of ['one\n', 'two\n']) ring.add(line);
  const first = ring.tail(ALL);
  assert.deepEqual(first, { cursor: 's1:2', size: 6, lines: ['one', 'two'], truncated: false, reset: false });
  assert.deepEqual(ring.tail({ ...ALL, cursor: first.cursor }).lines, []);
  ring.add('three');
  assert.deepEqual(ring.tail({ ...ALL, cursor: first.cursor }).lines, ['three']);
});

test('a limit returns the newest lines and reports that some are missing', () => {
  const ring = createLogRing('s1');
  for (const line of ['one', 'two', 'three']) ring.add(line);
  const of = (asked: object) => {
    const { lines, truncated } = ring.tail({ ...ALL, ...asked });
    return [lines, truncated];
  };
  assert.deepEqual(
    [of({ limit: 2 }), of({ maxBytes: 8 }), of({ maxBytes: 4 }), of({ limit: 3 })],
    [
      [['two', 'three'], true],
      [['two', 'three'], true],
      [[], true],
      [['one', 'two', 'three'], false],
    ],
  );
});

test('a malformed cursor, or one of another start, returns the newest lines', () => {
  const ring = createLogRing('s2');
  ring.add('one');
  assert.deepEqual(ring.tail({ ...ALL, cursor: 's1:7' }), { ...ring.tail(ALL), reset: true });
  assert.equal(ring.tail({ ...ALL, cursor: 'nonsense' }).reset, true);
  assert.deepEqual(ring.tail({ ...ALL, cursor: 's2:x' }).lines, ['one']);
});

test('each line and the whole log are bounded', () => {
  const ring = createLogRing('s1');
  for (let n = 0; n < 3_000; n++) ring.add(`${n} ${'x'.repeat(1_000)}`);
  ring.add('y'.repeat(1_000_000));
  const { size, lines, truncated } = ring.tail({ ...ALL, cursor: 's1:0', maxBytes: 10_000_000 });
  assert.deepEqual(
    { bounded: size <= 2 * 1024 * 1024, last: lines.at(-1)?.length, before: lines.at(-2)?.slice(0, 4), truncated },
    { bounded: true, last: 16_384, before: '2999', truncated: true },
  );
});
