import assert from 'node:assert/strict';
import { test } from 'node:test';
import { turnsUntil } from '../testing/whole-gateway.ts';
import { watchGateway } from './watch-fixture.ts';

test('when a workstream has come from another machine, its watches are polled, and results that wait are delivered', async () => {
  await using it = await watchGateway();
  it.begin();
  const wsId = await it.main();
  const { watch_id: watchId } = await it.watch();
  const set = (sql: string) => it.store.commit({ statements: [{ sql: `update watches set ${sql}`, parameters: [] }] });
  // As another machine has left it, of whose changes this one has heard nothing.
  await set(`active = 0, next_poll_ms = null, result_json = '{"text":"the build is done"}'`);
  await it.clock.advance(120_000);
  assert.deepEqual(await it.told(), []);
  it.background.watches.records.arrived([wsId]);
  await turnsUntil(async () => (await it.told()).length === 1, 'the result');
  assert.deepEqual(await it.told(), ['the build is done']);
  await it.isIdle(wsId);
  it.prints.push('same');
  await set(`active = 1, result_json = null, next_poll_ms = ${it.clock.now()}`);
  it.background.watches.records.arrived([wsId]);
  await it.polled(watchId, 1);
  it.end();
});
