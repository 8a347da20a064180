import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { DueHeap } from './due-heap.ts';

test('after any changes, the first entry is the earliest one', () => {
  const change = fc.tuple(fc.integer({ min: 0, max: 20 }), fc.option(fc.integer({ min: 0, max: 50 })));
  fc.assert(
    fc.property(fc.array(change, { maxLength: 400 }), (changes) => {
      const heap = new DueHeap();
      const model = new Map<string, number>();
      for (const [id, atMs] of changes) {
        heap.set(`job ${id}`, atMs ?? undefined);
        if (atMs === null) model.delete(`job ${id}`);
        else model.set(`job ${id}`, atMs);
        const first = heap.first();
        assert.equal(first?.atMs, model.size === 0 ? undefined : Math.min(...model.values()));
        assert.equal(first && model.get(first.id), first?.atMs);
        assert.equal(heap.size, model.size);
      }
    }),
  );
});

test('it is emptied in order', () => {
  const heap = new DueHeap();
  const times = Array.from({ length: 1_000 }, (_, index) => (index * 7_919) % 1_009);
  for (const [index, atMs] of times.entries()) heap.set(String(index), atMs);
  const seen: number[] = [];
  for (let first = heap.first(); first; first = heap.first()) {
    seen.push(first.atMs);
    heap.set(first.id, undefined);
  }
  assert.deepEqual(
    seen,
    times.toSorted((a, b) => a - b),
  );
});
