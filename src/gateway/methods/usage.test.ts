import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wholeGateway } from '../testing/whole-gateway.ts';

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
