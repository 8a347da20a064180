import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wholeGateway } from '../testing/whole-gateway.ts';
import { addUsage } from '../usage/usage-rows.ts';

test('tokens are added up by every key, and stay when their workstream is deleted', async () => {
  await using gateway = await wholeGateway();
  const wsId = await gateway.main();
  for (const message of ['one', 'two']) {
    await gateway.call('workstream.send', { wsId, message });
    await gateway.isIdle(wsId);
  }
  const { rows } = await gateway.call('usage.get', {});
  const [day] = rows;
  assert.deepEqual([rows.length, day?.turns, day?.costUsd], [1, 2, 0]);
  assert.ok(day && day.inputTokens > 0 && day.unpricedTokens === day.inputTokens + day.outputTokens);
  const keysBy = async (by: 'model' | 'principal' | 'workstream' | 'run') =>
    (await gateway.call('usage.get', { by })).rows.map(({ key, turns }) => [key, turns]);
  assert.deepEqual(await keysBy('workstream'), [[wsId, 2]]);
  assert.deepEqual(
    (await keysBy('run')).map(([, turns]) => turns),
    [1, 1],
  );
  assert.equal((await keysBy('model')).length, 1);
  assert.equal((await keysBy('principal')).length, 1);
  const sumOf = async (query: object) => (await gateway.call('usage.get', query)).rows.length;
  assert.deepEqual(
    [
      await sumOf({ from: day.key, to: day.key }),
      await sumOf({ to: '1960-01-01' }),
      await sumOf({ from: '2999-01-01' }),
      await sumOf({ wsId: 'another' }),
    ],
    [1, 0, 0, 0],
  );
});

test('the sum has the rows that are left out', async () => {
  await using gateway = await wholeGateway();
  const model = { provider: 'openai', modelId: 'm', price: { input: 1, output: 1 } };
  const usage = { promptTokens: 900_000, completionTokens: 100_000, cacheCreationTokens: 0, cacheReadTokens: 0 };
  const statements = Array.from({ length: 1_001 }, (_, n) =>
    addUsage({ runId: `run-${n}`, wsId: 'ws-1', principal: 'ada' }, { usage, model }, 1_000),
  );
  await gateway.store.commit({ statements });
  const byRun = await gateway.call('usage.get', { by: 'run' });
  assert.deepEqual([byRun.rows.length, byRun.total?.costUsd, byRun.truncated], [1_000, 1_001, true]);
  const byDay = await gateway.call('usage.get', { by: 'day' });
  assert.deepEqual([byDay.rows.length, byDay.total, byDay.truncated], [1, byRun.total, undefined]);
  const none = await gateway.call('usage.get', { wsId: 'another' });
  assert.deepEqual([none.rows, none.total?.turns], [[], 0]);
});

test('days that do not exist, and days in the wrong order, are refused', async () => {
  await using gateway = await wholeGateway();
  for (const [query, at] of [
    [{ from: '2026-13-45' }, /from/],
    [{ to: '2026-02-30' }, /to/],
    [{ from: '2026-01-02', to: '2026-01-01' }, /the last day is before the first/],
  ] as const) {
    const { code, message } = await gateway.refusal('usage.get', query);
    assert.equal(code, 'INVALID_REQUEST');
    assert.match(message, at);
  }
  assert.equal((await gateway.call('usage.get', { from: '2026-01-01', to: '2026-01-01' })).truncated, undefined);
});
