import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { UsageRow } from '../../../../protocol/methods/usage.ts';
import { createFakeClient } from '../fake-client.ts';
import { groupingsFor, toBars, UsageReport } from './usage-report.ts';

const row = (key: string, more: Partial<UsageRow> = {}): UsageRow => ({
  ...{ key, turns: 1, inputTokens: 100, cacheReadTokens: 40, cacheWriteTokens: 0, outputTokens: 10 },
  ...{ reasoningTokens: 0, costUsd: 0.5, unpricedTokens: 0, ...more },
});

function open() {
  const fake = createFakeClient();
  fake.answer('budget.list', () => ({ budgets: [] }));
  const report = new UsageReport({ client: fake.client, now: () => Date.parse('2026-03-05T12:00:00Z') });
  return { ...fake, report };
}

test('days without usage between others are shown, those before the first are not', async () => {
  const { report, answer, calls } = open();
  answer('usage.get', () => ({ rows: [row('2026-03-04'), row('2026-03-02')] }));
  await report.read();
  assert.deepEqual(
    report.report.value?.rows.map(({ key, turns }) => [key, turns]),
    [
      ['2026-03-02', 1],
      ['2026-03-03', 0],
      ['2026-03-04', 1],
      ['2026-03-05', 0],
    ],
  );
  assert.deepEqual(calls[0], ['usage.get', { by: 'day', from: '2026-02-04' }]);
});

test('an administrator sees the usage of everybody by hour and by name, over the chosen days', async () => {
  assert.deepEqual(groupingsFor(['read'], {}), ['day', 'model', 'workstream']);
  assert.deepEqual(groupingsFor(['admin.usage'], {}).slice(3), ['hour', 'user']);
  const { report, answer, calls } = open();
  const { key: _, ...summary } = { ...row('', { turns: 2 }), toolCalls: 3 };
  const breakdown = [
    { ...row('user_1'), toolCalls: 3, username: 'ada' },
    { ...row('operator'), toolCalls: 0 },
  ];
  answer('usage.report', () => ({ summary, breakdown }));
  report.days.value = '7';
  await report.read('user');
  assert.deepEqual(calls[0], ['usage.report', { groupBy: 'user', sinceMs: Date.parse('2026-02-27') }]);
  assert.deepEqual(
    report.report.value?.rows.map(({ key }) => [key, report.report.value?.names.get(key)]),
    [
      ['user_1', 'ada'],
      ['operator', undefined],
    ],
  );
  assert.equal(report.report.value?.total?.turns, 2);
});

test('the usage of one user or model is shown by day, and by everything but workstreams', async () => {
  const { report, answer, calls } = open();
  const { key: _, ...summary } = { ...row(''), toolCalls: 0 };
  answer('usage.report', () => ({ summary, breakdown: [{ ...row('2026-03-05'), toolCalls: 0 }] }));
  const filter = { user: { id: 'user_1', name: 'ada' }, model: 'openai/m' };
  assert.deepEqual(groupingsFor(['admin.usage'], filter), ['day', 'model', 'hour', 'user']);
  await report.only(filter);
  const asked = { groupBy: 'day', sinceMs: Date.parse('2026-02-04'), userId: 'user_1', model: 'openai/m' };
  assert.deepEqual(calls[0], ['usage.report', asked]);
  assert.deepEqual([report.by.value, report.report.value?.rows.length], ['day', 1]);
});

test('the answer of an earlier choice does not replace a later one', async () => {
  const { report, answer } = open();
  const first = Promise.withResolvers<{ rows: UsageRow[] }>();
  answer('usage.get', () => first.promise);
  const slow = report.read('model');
  answer('usage.get', () => ({ rows: [row('ws-1')] }));
  await report.read('workstream');
  first.resolve({ rows: [row('openai/m')] });
  await slow;
  assert.deepEqual([report.by.value, report.report.value?.rows[0]?.key], ['workstream', 'ws-1']);
});

test('the sum is the one of the daemon, which knows rows that are left out', async () => {
  const { report, answer } = open();
  const { key: _, ...total } = row('', { turns: 1_001 });
  answer('usage.get', () => ({ rows: [row('ws-1')], total, truncated: true }));
  await report.read('workstream');
  assert.deepEqual([report.report.value?.total?.turns, report.report.value?.truncated], [1_001, true]);
});

test('a refusal is shown, and the next answer removes it', async () => {
  const { report, answer } = open();
  answer('usage.get', () => Promise.reject(new Error('not now')));
  await report.read();
  assert.equal(report.reading.problem.value, 'not now');
  answer('usage.get', () => ({ rows: [] }));
  await report.read();
  assert.deepEqual([report.reading.problem.value, report.report.value?.rows], [undefined, []]);
});

test('a bar has new input, cached input and output, or money', () => {
  const { bars, longest } = toBars([row('a'), row('b', { inputTokens: 200 })], 'tokens');
  assert.deepEqual(
    bars[0]?.parts.map(({ kind, amount }) => [kind, amount]),
    [
      ['input', 60],
      ['cached', 40],
      ['output', 10],
    ],
  );
  assert.equal(longest, 210);
  assert.deepEqual(toBars([row('a')], 'usd').bars[0]?.parts, [{ kind: 'money', amount: 0.5 }]);
  assert.equal(toBars([row('a', { costUsd: 0 })], 'usd').longest, 1);
});
