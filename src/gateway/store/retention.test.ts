import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeClock } from '../../testing/fake-clock.ts';
import { recordingLog, tempStore } from '../../testing/temp-store.ts';
import { createRetention } from './retention.ts';
import type { SqliteStore } from './sqlite-store.ts';
import { build, statementOf } from './statements.ts';

const DAY = 86_400_000;
const never = new AbortController().signal;

test('events older than the configured days are removed from the beginning of each log', async () => {
  const { store, clock, retention } = await setUp();
  await using _ = store;
  await append(store, 'a', 3);
  await append(store, 'b', 2);
  await clock.advance(2 * DAY);
  await append(store, 'a', 2);
  await clock.advance(1.5 * DAY);
  await retention.sweep(never);
  assert.deepEqual(
    [store.bounds('a'), store.bounds('b')],
    [
      { first: 4, last: 5 },
      { first: 2, last: 2 }, // the last one stays, so that offsets continue from it
    ],
  );
});

test('a log longer than a batch is pruned to its end', async () => {
  const { store, clock, retention } = await setUp();
  await using _ = store;
  await append(store, 'a', 2_500);
  await clock.advance(4 * DAY);
  await append(store, 'a', 1);
  await retention.sweep(never);
  assert.deepEqual(store.bounds('a'), { first: 2_501, last: 2_501 });
});

test('an event with an altered time does not prove its age', async () => {
  const { store, clock, retention } = await setUp();
  await using _ = store;
  await append(store, 'a', 5);
  await store.commit({
    statements: [{ sql: 'update events set created_ms = -1e15 where "offset" = 4', parameters: [] }],
  });
  await clock.advance(DAY);
  await retention.sweep(never);
  assert.deepEqual(store.bounds('a'), { first: 1, last: 5 });
});

test('an event that was written while the clock was wrong does not make those before it old, and keeps none that are old', async () => {
  const { store, clock, retention } = await setUp();
  await using _ = store;
  const appendAt = async (ms: number) => {
    clock.jump(ms);
    await append(store, 'a', 1);
    clock.jump(-ms);
  };
  await append(store, 'a', 1);
  await appendAt(99 * 365 * DAY);
  await append(store, 'a', 1);
  await clock.advance(4 * DAY);
  await append(store, 'a', 2);
  await appendAt(-4 * DAY);
  await append(store, 'a', 1);
  await retention.sweep(never);
  assert.deepEqual(store.bounds('a'), { first: 4, last: 7 });
});

test('a log with an unfinished run is not pruned until the run ends', async () => {
  const { store, clock, retention } = await setUp();
  await using _ = store;
  await append(store, 'a', 3);
  await store.commit({ statements: [statementOf(build.insertInto('runs').values(run))] });
  await clock.advance(4 * DAY);
  await retention.sweep(never);
  const during = store.bounds('a');
  await store.commit({ statements: [statementOf(build.updateTable('runs').set({ status: 'ok' }), 1)] });
  await retention.sweep(never);
  assert.deepEqual(
    { during, after: store.bounds('a') },
    { during: { first: 1, last: 3 }, after: { first: 3, last: 3 } },
  );
});

test('used codes and expired sessions are removed, others are kept', async () => {
  const { store, clock, retention } = await setUp();
  await using _ = store;
  const parent = { parent_kind: 'operator', parent_id: 'operator' } as const;
  const code = { ...parent, scopes: 'read', expires_ms: 9 * DAY, used_ms: null };
  const session = { ...parent, scopes: 'read', created_ms: 0, revoked_ms: null };
  await store.commit({
    statements: [
      statementOf(
        build.insertInto('login_codes').values([
          { ...code, code_hash: 'live' },
          { ...code, code_hash: 'used', used_ms: 5 },
          { ...code, code_hash: 'expired', expires_ms: 5 },
        ]),
      ),
      statementOf(
        build.insertInto('login_sessions').values([
          { ...session, jti: 'live', expires_ms: 9 * DAY },
          { ...session, jti: 'expired', expires_ms: 5 },
        ]),
      ),
    ],
  });
  await clock.advance(DAY);
  await retention.sweep(never);
  assert.deepEqual(
    [
      await store.db.selectFrom('login_codes').select('code_hash').execute(),
      await store.db.selectFrom('login_sessions').select('jti').execute(),
    ],
    [[{ code_hash: 'live' }], [{ jti: 'live' }]],
  );
});

test('the sweep runs every day, and a failure does not end it', async () => {
  const { store, clock, log } = await setUp();
  await using _ = store;
  const stop = new AbortController();
  let sweeps = 0;
  const failing = {
    ...store,
    commit(): Promise<number> {
      sweeps += 1;
      return Promise.reject(new Error('broken'));
    },
  };
  const running = createRetention({
    store: failing,
    clock,
    log,
    live: { retentionDays: 3 },
    isBeingMade: () => false,
  }).run(stop.signal);
  for (let day = 0; day < 3; day += 1) await clock.advance(DAY);
  stop.abort();
  await running;
  assert.deepEqual(
    { sweeps, warned: log.lines.filter(([level]) => level === 'warn').length },
    { sweeps: 3, warned: 3 },
  );
});

const run = {
  run_id: 'r',
  ws_id: 'a',
  principal: 'p',
  run_key: null,
  source: 'person',
  status: 'running',
  request_json: '{}',
  epoch: 1,
  error: null,
  summary: null,
  accepted_ms: 0,
  started_ms: null,
  ended_ms: null,
} as const;

async function append(store: SqliteStore, wsId: string, count: number): Promise<void> {
  const events = Array.from({ length: count }, () => ({ type: 'thinking_start' }) as const);
  await store.commit({ events: { wsId, events } });
}

async function setUp() {
  const clock = fakeClock();
  const log = recordingLog();
  const store = await tempStore({ clock, log });
  return {
    store,
    clock,
    log,
    retention: createRetention({ store, clock, log, live: { retentionDays: 3 }, isBeingMade: () => false }),
  };
}
