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
  await using programs = unprepared();
  await using stage = createStage(programs, { quick: true });
  const result = await measure(row, stage, 3);
  assert.deepEqual(toCells(result), ['n', 'w', 'a', '≤ 1.50x', '2.00x (1.00x to 3.00x)', 'no']);
});

test('figures beside the value of a row have aims, too', async () => {
  const row: Row = {
    name: 'n',
    what: 'w',
    anchor: 'a',
    unit: 'x',
    target: { atLeast: 1 },
    beside: [
      { figure: 'p50', label: 'half', unit: 'ms', target: { atMost: 5 } },
      { figure: 'p99', label: 'nearly all', unit: 'ms' },
    ],
    maxRounds: 1,
    open: async () => async () => ({ value: 1.5, figures: { p50: p50Ms, p99: 20 } }),
  };
  await using programs = unprepared();
  await using stage = createStage(programs, { quick: true });
  let p50Ms = 4;
  const met = await measure(row, stage, 1);
  p50Ms = 6;
  const missed = await measure(row, stage, 1);
  assert.deepEqual(
    [met, missed].map((result) => toCells(result).slice(3)),
    [
      ['≥ 1.00x; half ≤ 5.00 ms', '1.50x (1.50x to 1.50x); half 4.00 ms; nearly all 20.0 ms', 'yes'],
      ['≥ 1.00x; half ≤ 5.00 ms', '1.50x (1.50x to 1.50x); half 6.00 ms; nearly all 20.0 ms', 'no'],
    ],
  );
});

test('daemon and reference servers are measured with the same load, over WebSocket and over HTTP, also as a user', {
  timeout: 120_000,
}, async () => {
  await using programs = await preparePrograms();
  for (const [row, caller] of [
    [handshakeRow, 'operator'],
    [postRow, 'user'],
  ] as const) {
    await using stage = createStage(programs, { quick: true, caller });
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

function unprepared() {
  const unused = () => Promise.reject(new Error('nothing is seeded'));
  return {
    folder: '',
    product: '',
    anchor: () => '',
    seeds: unused,
    [Symbol.asyncDispose]: async () => undefined,
  };
}
