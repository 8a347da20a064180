import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OF_EVERYONE } from '../sharing/perception.ts';
import { wholeGateway } from '../testing/whole-gateway.ts';
import { storeBudget } from './budget-rows.ts';

test('a budget that a worker has removed does not hold after the take-over', async () => {
  await using gateway = await wholeGateway();
  const { budgets, workstreams } = gateway.parts;
  const { wsId } = (await workstreams.create({ owned: OF_EVERYONE })).data;
  const another = (await workstreams.create({ owned: OF_EVERYONE })).data.wsId;
  const at = (machine: string) => ({
    sql: 'update workstreams set machine = ? where ws_id in (?, ?)',
    parameters: [machine, wsId, another],
  });
  const change = (...statements: Parameters<typeof gateway.store.commit>[0]['statements'] & object) =>
    gateway.store.commit({ statements });
  await change(at('one'), storeBudget(wsId, { tokens: 7 }), storeBudget(another, { tokens: 7 }));
  await budgets.recover(); // this daemon becomes active
  await change(storeBudget(wsId, {}), storeBudget(another, { tokens: 9 }), at('moving one'));
  await budgets.recover(Object.create(gateway.store, { machine: { value: 'moving one' } }));
  assert.deepEqual([budgets.ownOf(wsId), budgets.ownOf(another)], [undefined, { tokens: 9 }]);
});
