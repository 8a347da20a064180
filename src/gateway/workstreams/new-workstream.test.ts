import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAEMON, OF_EVERYONE } from '../sharing/perception.ts';
import { build, statementOf } from '../store/statements.ts';
import { UnitRefused } from '../store/store.ts';
import { wholeGateway } from '../testing/whole-gateway.ts';

test('of two creations with one alias at the same time, the second reports that the name is used', async () => {
  await using gateway = await wholeGateway();
  const { workstreams } = gateway.parts;
  const ends = await Promise.allSettled([
    workstreams.create({ owned: OF_EVERYONE, alias: 'a' }),
    workstreams.create({ owned: OF_EVERYONE, alias: 'a' }),
  ]);
  assert.deepEqual(
    ends.map((end) => (end.status === 'rejected' ? end.reason.message : end.value.data.alias)),
    ['a', 'That name is already used by another workstream'],
  );
});

test('a creation that is refused for another reason does not report that the name is used', async () => {
  await using gateway = await wholeGateway();
  const { workstreams } = gateway.parts;
  const missing = statementOf(build.updateTable('workstreams').set({ loaded: 1 }).where('ws_id', '=', 'none'), 1);
  await assert.rejects(
    workstreams.create({ owned: OF_EVERYONE, alias: 'a' }, () => [missing]),
    UnitRefused,
  );
  assert.equal(await workstreams.findByKey('a', DAEMON), undefined);
});
