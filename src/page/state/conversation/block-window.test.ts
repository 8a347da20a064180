import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { MAX_BLOCKS, type Span, spanAt, stepTowards, toTops } from './block-window.ts';
import type { Block } from './blocks.ts';

const block = (key: string): Block => ({ kind: 'user', key, text: 'x', source: 'person' });

test('measured heights are used, others estimated, and a range of pixels finds its blocks', () => {
  const measured = new Map([
    ['a', 10],
    ['b', 30],
    ['c', 20],
  ]);
  const tops = toTops(['a', 'b', 'c'].map(block), measured);
  assert.deepEqual(tops, [0, 10, 40, 60]);
  assert.deepEqual(
    [spanAt(tops, 0, 5), spanAt(tops, 5, 15), spanAt(tops, 39, 41), spanAt(tops, 100, 200), spanAt(tops, -50, -10)],
    [
      { first: 0, last: 1 },
      { first: 0, last: 2 },
      { first: 1, last: 3 },
      { first: 2, last: 3 },
      { first: 0, last: 1 },
    ],
  );
  assert.deepEqual(spanAt([0], 0, 100), { first: 0, last: 0 });
  assert.ok((toTops([block('new')], measured)[1] ?? 0) > 0);
});

const span = (max: number) =>
  fc.tuple(fc.nat(max), fc.nat(max)).map(([a, b]): Span => ({ first: Math.min(a, b), last: Math.max(a, b) + 1 }));

test('visible blocks are drawn at once, wanted ones step by step, and never too many', () => {
  fc.assert(
    fc.property(span(5_000), span(5_000), fc.tuple(fc.nat(60), fc.nat(30_000)), (current, wanted, [height, chars]) => {
      const visible = { first: wanted.first, last: Math.min(wanted.last, wanted.first + 1 + height) };
      let at = current;
      for (let steps = 0; steps < 2 * MAX_BLOCKS; steps += 1) {
        const next = stepTowards(at, { visible, wanted }, () => chars);
        assert.ok(next.first <= visible.first && next.last >= visible.last, 'what is visible is drawn');
        assert.ok(next.last - next.first <= MAX_BLOCKS);
        if (next.first === at.first && next.last === at.last) break;
        at = next;
      }
      const count = Math.min(MAX_BLOCKS, wanted.last - wanted.first);
      assert.deepEqual([at.last - at.first, at.first >= wanted.first, at.last <= wanted.last], [count, true, true]);
    }),
  );
});

test('expensive blocks are drawn a few at a time', () => {
  const wanted = { first: 0, last: 60 };
  const visible = { first: 30, last: 32 };
  const next = stepTowards({ first: 30, last: 32 }, { visible, wanted }, () => 4_000);
  assert.equal(next.last - next.first, 4);
  const leap = stepTowards({ first: 300, last: 310 }, { visible, wanted }, () => 1);
  assert.deepEqual(leap, visible);
});
