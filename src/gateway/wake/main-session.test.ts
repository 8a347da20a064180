import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomIds } from '../../ids.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import { tempStore } from '../../testing/temp-store.ts';
import { UnitRefused } from '../store/store.ts';
import { createMainSession } from './main-session.ts';
import { createSystemEvents } from './system-events.ts';

/** The main session as the active daemon and as a worker of the same database reach it. */
async function scene() {
  const store = await tempStore();
  const clock = fakeClock(1_000);
  const woken: string[] = [];
  const systemEvents = createSystemEvents({ store, clock });
  const reach = (machine: string | null) =>
    createMainSession({
      store: { db: store.db, commit: store.commit, reportDamage: store.reportDamage, machine },
      systemEvents,
      heartbeats: { wake: (principal) => void woken.push(principal) },
      ids: randomIds,
      clock,
    });
  const left = async () => (await store.db.selectFrom('main_events').select('text').execute()).map(({ text }) => text);
  return {
    store,
    clock,
    woken,
    systemEvents,
    left,
    active: reach(null),
    worker: reach('w'),
    [Symbol.asyncDispose]: () => store.close(),
  };
}

const NEVER = { sql: 'update meta set value = 1 where key = ?', parameters: ['nothing'], expect: 1 };

test('what a worker tells the main session waits in the store, and is queued once, with its rights, taint and wake', async () => {
  await using world = await scene();
  const { worker, active, systemEvents, woken, clock, left } = world;
  await worker.tell('first', { rights: 'write', taint: { kind: 'network', target: 'example.com' } });
  await clock.advance(1);
  await worker.tell('second', { rights: 'approve', wakes: 'cron:job' });
  assert.deepEqual([systemEvents.texts(), await left(), woken], [[], ['first', 'second'], []]);
  await Promise.all([active.takeLeft(), active.takeLeft()]);
  await worker.takeLeft();
  assert.deepEqual([systemEvents.texts(), await left(), woken], [['first', 'second'], [], ['cron:job']]);
  const taken = systemEvents.take();
  assert.deepEqual([taken?.rights, taken?.taint], ['write', { kind: 'network', target: 'example.com' }]);
});

test('nothing is told if what belongs to it is refused', async () => {
  await using world = await scene();
  for (const reached of [world.worker, world.active])
    await assert.rejects(reached.tell('not this', { rights: 'approve', also: [NEVER] }), UnitRefused);
  assert.deepEqual([await world.left(), world.systemEvents.texts()], [[], []]);
});

test('a damaged taint counts as one', async () => {
  await using world = await scene();
  await world.worker.tell('x', { rights: 'approve', taint: { kind: 'network' } });
  await world.store.commit({ statements: [{ sql: "update main_events set taint_json = '{'", parameters: [] }] });
  await world.active.takeLeft();
  assert.deepEqual(world.systemEvents.take()?.taint, { kind: 'summary' });
});
