import assert from 'node:assert/strict';
import { test } from 'node:test';
import { measure, type Row } from '../../bench/row.ts';
import { handshakeRow } from '../../bench/rows/handshakes.ts';
import { postRow } from '../../bench/rows/posts.ts';
import { createStage, preparePrograms } from '../../bench/stage.ts';
import { toCells } from '../../bench/table.ts';

test('a row compares the median of its counted rounds with its target', async () => {
  const values = [100, 3, 1, 2];
  const round = async () => ({ value: values.shift() ?? 0, figures: {} });
  const row: Row = { name: 'n', what: 'w', anchor: 'a', unit: 'x', target: { atMost: 1.5 }, open: async () => round };
  const unused = () => Promise.reject(new Error('nothing is seeded'));
  await using programs = {
    folder: '',
    product: '',
    anchor: () => '',
    seeds: unused,
    [Symbol.asyncDispose]: async () => undefined,
  };
  await using stage = createStage(programs, { quick: true });
  const result = await measure(row, stage, 3);
  assert.deepEqual(toCells(result), ['n', 'w', 'a', '≤ 1.50x', '2.00x (1.00x to 3.00x)', 'no']);
});

test('daemon and reference servers are measured with the same load, over WebSocket and over HTTP', {
  timeout: 120_000,
}, async () => {
  await using programs = await preparePrograms();
  for (const row of [handshakeRow, postRow]) {
    await using stage = createStage(programs, { quick: true });
    const { rounds } = await measure(row, stage, 1);
    const figures = Object.entries(rounds[0]?.figures ?? {});
    assert.deepEqual(
      figures.map(([name, value]) => [name, value > 0 && Number.isFinite(value)]),
      [
        ['product', true],
        ['anchor', true],
      ],
    );
  }
});
