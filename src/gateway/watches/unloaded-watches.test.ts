import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../timing/until.ts';
import { LOCAL } from '../coordinators/coordinators-fixture.ts';
import { DAEMON } from '../sharing/perception.ts';
import { LIVE } from '../testing/default-deps.ts';
import { turnsUntil } from '../testing/whole-gateway.ts';
import { watchGateway } from './watch-fixture.ts';

test('the running poll of an unloaded workstream ends when that is deleted', async () => {
  await using it = await watchGateway({ live: { ...LIVE, maxWorkstreams: 2 } });
  const { wsId } = await it.call('workstream.create', {}, LOCAL);
  let stopped: unknown;
  it.prints.push(async ({ signal }) => {
    await until(new Promise(() => undefined), signal).catch(() => undefined);
    stopped = signal.aborted;
    return { output: '', outcome: 'cancelled' };
  });
  it.begin();
  await it.watch({ wsId });
  await turnsUntil(() => it.started.length === 1, 'the poll');
  await it.call('workstream.create', {}, LOCAL);
  assert.deepEqual([it.parts.workstreams.find(wsId, DAEMON), stopped], [undefined, undefined]);
  await it.call('workstream.delete', { wsId }, LOCAL);
  assert.equal(stopped, true);
  assert.deepEqual(await it.store.db.selectFrom('watches').select('watch_id').execute(), []);
  it.end();
});
