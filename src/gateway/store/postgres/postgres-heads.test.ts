import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createHeads } from './postgres-heads.ts';

/** Heads over a database that answers when the test lets it. */
function heads(stored: Record<string, number>) {
  const reads: string[][] = [];
  let gate = Promise.resolve();
  const read = async (_: string, [wsIds]: readonly unknown[]) => {
    const asked: string[] = JSON.parse(String(wsIds));
    reads.push(asked);
    const rows = asked.map((wsId) => ({ ws_id: wsId, first: '1', last: String(stored[wsId] ?? 0) }));
    await gate;
    return rows;
  };
  const hold = () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    gate = promise;
    return resolve;
  };
  // The rows are those of the query that heads make.
  return { heads: createHeads(read as Parameters<typeof createHeads>[0]), stored, reads, hold };
}

test('a log of another daemon grows by the events that come next', async () => {
  const { heads: all } = heads({ a: 3 });
  await all.know(['a']);
  assert.equal(all.noteGrowth('a', { from: 4, end: 6 }), true);
  assert.equal(all.noteGrowth('a', { from: 7, end: 7 }), true);
  assert.deepEqual(all.bounds('a'), { first: 1, last: 7 });
});

test('growth of a log that is not known is not noted', () => {
  const { heads: all } = heads({});
  assert.equal(all.noteGrowth('a', { from: 1, end: 1 }), false);
  assert.throws(() => all.bounds('a'), /nobody has read/);
});

test('after a gap, the log ends at the newest event, but something is missing', async () => {
  const { heads: all } = heads({ a: 3 });
  await all.know(['a']);
  assert.equal(all.noteGrowth('a', { from: 6, end: 8 }), false);
  assert.equal(all.bounds('a').last, 8);
  assert.equal(all.noteGrowth('a', { from: 9, end: 9 }), true);
});

test('events that are known already do not make a log shorter', async () => {
  const { heads: all } = heads({ a: 9 });
  await all.know(['a']);
  for (const growth of [
    { from: 4, end: 5 },
    { from: 9, end: 9 },
    { from: 0, end: 0 },
  ])
    assert.equal(all.noteGrowth('a', growth), false);
  assert.equal(all.bounds('a').last, 9);
});

test('logs are read again, also unknown ones, and those that grew meanwhile stay longer', async () => {
  const { heads: all, stored, hold, reads } = heads({ a: 3, b: 5 });
  await all.know(['a']);
  stored.a = 4;
  const release = hold();
  const reread = all.reread(['a', 'b']);
  all.noteGrowth('a', { from: 4, end: 6 });
  release();
  await reread;
  assert.deepEqual([all.bounds('a').last, all.bounds('b').last], [6, 5]);
  assert.deepEqual(reads, [['a'], ['a', 'b']]);
});

test('a log that became known during a read keeps what is known', async () => {
  const { heads: all, hold } = heads({ a: 3 });
  const release = hold();
  const knowing = all.know(['a']);
  all.reset('a');
  all.advance('a', 1);
  release();
  await knowing;
  assert.equal(all.bounds('a').last, 1);
});
