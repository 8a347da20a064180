import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeClock } from '../../testing/fake-clock.ts';
import { recordingLog, tempStore } from '../../testing/temp-store.ts';
import { build, statementOf } from '../store/statements.ts';
import { forgetOccurrences } from './forget-occurrences.ts';
import { insertClaim, insertSettled } from './occurrence-rows.ts';

const DAY_MS = 86_400_000;
const NOW_MS = 1_000 * DAY_MS;
const settled = (jobId: string, atMs: number, endedMs: number) =>
  insertSettled(
    jobId,
    { fromMs: atMs, throughMs: atMs, count: 1, status: 'missed', reason: 'why' },
    { nowMs: endedMs },
  );

async function setUp() {
  const store = await tempStore();
  const clock = fakeClock(NOW_MS);
  const stop = new AbortController();
  const cron = { enabled: true, maxConcurrentRuns: 4, retentionDays: 90 };
  const forgetting = forgetOccurrences({ store, clock, log: recordingLog(), live: { cron } }, stop.signal);
  return {
    store,
    cron,
    /** The first sweep is after a quarter of an hour, later ones after a day. */
    async aDayPasses(): Promise<void> {
      await clock.advance(DAY_MS + 20 * 60_000);
      await store.commit({}); // what was committed before is stored then
    },
    left: async (jobId: string) => {
      const rows = await store.db.selectFrom('cron_occurrences').selectAll().where('job_id', '=', jobId).execute();
      return rows.map(({ scheduled_ms }) => scheduled_ms);
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await forgetting;
      await store[Symbol.asyncDispose]();
    },
  };
}

test('expired occurrences are removed with their attempts; open ones stay, however old', async () => {
  await using world = await setUp();
  const attempt = { epoch: 1, owner: 'me', started_ms: 1, run_id: null, attempt: 1 };
  await world.store.commit({
    statements: [
      ...[settled('old', 1, NOW_MS - 91 * DAY_MS), settled('old', 2, NOW_MS - 80 * DAY_MS)],
      insertClaim({ jobId: 'open', scheduledMs: 3, trigger: 'schedule', owner: 'me', leaseMs: 5 }),
      ...[1, 2].map((scheduled_ms) =>
        statementOf(build.insertInto('cron_attempts').values({ ...attempt, job_id: 'old', scheduled_ms })),
      ),
    ],
  });
  await world.aDayPasses();
  const attempts = await world.store.db.selectFrom('cron_attempts').select('scheduled_ms').execute();
  assert.deepEqual([await world.left('old'), await world.left('open'), attempts], [[2], [3], [{ scheduled_ms: 2 }]]);
  world.cron.retentionDays = 1;
  await world.aDayPasses();
  assert.deepEqual(await world.left('old'), [], 'the setting is read when it is used');
});

test('the latest two thousand records of a job are kept', async () => {
  await using world = await setUp();
  const often = Array.from({ length: 2_010 }, (_, index) => settled('often', index, NOW_MS));
  await world.store.commit({ statements: [...often, settled('seldom', 0, NOW_MS)] });
  await world.aDayPasses();
  const left = await world.left('often');
  assert.deepEqual([left.length, left[0], await world.left('seldom')], [2_000, 10, [0]]);
});
