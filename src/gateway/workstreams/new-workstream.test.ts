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

test('a workstream that gets the id of a deleted one has a log of its own, which readers of the deleted one do not get', async () => {
  await using gateway = await wholeGateway();
  const wsId = 'a'.repeat(32);
  const make = () => gateway.call('workstream.create', { wsId });
  const note = (command: string) => gateway.call('workstream.command', { wsId, command });
  await make();
  await note('/former');
  const got: number[] = [];
  gateway.parts.events.follow(wsId, 0, {
    viewer: DAEMON,
    sink: { ready: () => true, write: (entries) => got.push(...entries.map(({ offset }) => offset)) },
  });
  assert.deepEqual(got, [1]);
  await gateway.call('workstream.delete', { wsId });
  await make();
  await note('/latter');
  const texts = (await gateway.events(wsId)).map((event) => 'message' in event && event.message);
  assert.deepEqual([texts.length, String(texts[0]).includes('/latter')], [1, true], String(texts));
  assert.deepEqual([gateway.store.health().status, gateway.store.bounds(wsId).last, got], ['ok', 1, [1]]);
});
