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

test('a workstream is closed although a poll of it begins meanwhile', async () => {
  await using it = await watchGateway();
  it.prints.push('same');
  it.begin();
  for (let turns = 0; turns < 40; turns += 1) {
    const { wsId } = await it.call('workstream.create', {}, LOCAL);
    const { watch_id: watchId } = await it.watch({ wsId });
    await it.polled(watchId, 1);
    await it.clock.advance(59_990);
    let isClosed = false;
    const closing = it.call('workstream.close', { wsId }, LOCAL).then(() => {
      isClosed = true;
    });
    for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
    await it.clock.advance(20); // the next poll is due
    await turnsUntil(() => isClosed, `the close after ${turns} turns`);
    await closing;
  }
  it.end();
});
