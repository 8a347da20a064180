import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openTrail } from './audit-trail-fixture.ts';

const DAY_MS = 86_400_000;

test('records are dropped after a year, and the rest can still be verified', async () => {
  await using world = await openTrail();
  for (let n = 0; n < 4; n += 1) await world.add(n);
  await world.clock.advance(366 * DAY_MS);
  for (let n = 4; n < 6; n += 1) await world.add(n);
  await world.sign();
  const before = await world.kept();
  await world.tidy();
  assert.deepEqual(
    [before, await world.kept()],
    [
      [6, 5, 4, 3, 2, 1],
      [6, 5],
    ],
  );
  assert.deepEqual(await world.trail.verify(), { ok: true, checked: 2 });
  await world.store.commit({ statements: [world.store.db.deleteFrom('audit').where('seq', '=', 5).compile()] });
  assert.deepEqual(await world.trail.verify(), {
    ...{ ok: false, checked: 0, brokenAt: 5, problem: 'missing', signedSeq: 6 },
  });
});

test('a damaged record is listed as unreadable, stops no filter, and is dropped like the others', async () => {
  await using world = await openTrail();
  await world.add(0);
  await world.add(1, { outcome: 'denied' });
  await world.store.commit({
    statements: [{ sql: 'UPDATE audit SET body_json = ? WHERE seq = 1', parameters: ['{"eventId'] }],
  });
  const all = { limit: 10, offset: 0 };
  assert.deepEqual(
    (await world.trail.list({}, all)).events.map(({ seq }) => seq),
    [2, 1],
  );
  assert.deepEqual(
    (await world.trail.list({ outcome: 'denied' }, all)).events.map(({ seq }) => seq),
    [2],
  );
  world.clock.jump(366 * DAY_MS);
  await world.add(2);
  await world.sign();
  await world.tidy();
  assert.deepEqual(await world.kept(), [3]);
});

test('a start with a clock that is years ahead for some minutes removes no records', async () => {
  await using world = await openTrail();
  for (let n = 0; n < 3; n += 1) await world.add(n);
  await world.sign();
  world.clock.jump(2 * 365 * DAY_MS);
  await world.sign();
  await world.add(3);
  await world.sign();
  const ended = new AbortController();
  const running = world.trail.run(ended.signal);
  await world.clock.advance(5 * 60_000);
  world.clock.jump(-2 * 365 * DAY_MS);
  await world.clock.advance(DAY_MS);
  ended.abort();
  await running;
  assert.deepEqual([await world.kept(), await world.trail.verify()], [[4, 3, 2, 1], { ok: true, checked: 4 }]);
});

test('a record with a wrong time does not make those before it old, and keeps none that are old', async () => {
  await using world = await openTrail();
  await world.add(0);
  await world.add(1, { atMs: Date.UTC(2099, 0, 1) });
  await world.add(2);
  await world.clock.leap(366 * DAY_MS);
  await world.add(3);
  await world.add(4, { atMs: 5_000 });
  await world.add(5);
  await world.sign();
  await world.tidy();
  assert.deepEqual([await world.kept(), await world.trail.verify()], [[6, 5, 4], { ok: true, checked: 3 }]);
});
