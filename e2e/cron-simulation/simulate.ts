import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { toJob } from '../../src/gateway/cron/job-rows.ts';
import { openSqliteStore } from '../../src/gateway/store/sqlite-store.ts';
import type { Store } from '../../src/gateway/store/store.ts';
import { storedReader } from '../../src/gateway/store/stored-value.ts';
import { fakeClock } from '../../src/testing/fake-clock.ts';
import { recordingLog, tempDir } from '../../src/testing/temp-store.ts';
import { createRandom } from '../checker/random.ts';
import type { CronEvidence } from './evidence.ts';
import { MAX_RUNS, World } from './world.ts';

export interface SimulationOptions {
  seed: number;
  days: number;
  /** Over one store. */
  schedulers: number;
  jobs: number;
  /** The longest time without an incident. */
  restMs: number;
}

/** The usual longest time between two incidents. */
export const USUAL_REST_MS = 20 * 60_000;
const DAY_MS = 86_400_000;
/** As in decision 34. */
const LEASE_MS = 30_000;
/** Shortly before Berlin sets its clocks forward, and three weeks after New York did. */
const START_MS = Date.UTC(2026, 2, 22, 13, 0, 0, 123);
/** Longer than every wait: backoff, retries and leases. */
const CALM_MS = 2 * 3_600_000;

/** Runs schedulers through days of incidents, and returns all evidence. The same seed gives the same evidence. */
export async function simulate(options: SimulationOptions): Promise<CronEvidence> {
  using dir = tempDir(existsSync('/dev/shm') ? '/dev/shm' : tmpdir()); // disks are not simulated
  await using store = await openSqliteStore({
    path: path.join(dir.path, 'headgate.db'),
    clock: fakeClock(START_MS),
    log: recordingLog(),
    durability: 'normal',
    bootId: 'boot-1',
  });
  const random = createRandom(options.seed);
  const world = new World(store, { ...options, startMs: START_MS, random });
  await world.begin();
  while (world.clock.trueMs < options.days * DAY_MS) await world.happen();
  await world.calm(CALM_MS);
  return await readEvidence(world, { store, ...options }); // before the store is closed
}

async function readEvidence(
  world: World,
  { store, schedulers }: { store: Pick<Store, 'db' | 'reportDamage'>; schedulers: number },
): Promise<CronEvidence> {
  const { db } = store;
  const read = storedReader(store);
  const jobs = await db.selectFrom('cron_jobs').selectAll().execute();
  world.plans.closeAll(jobs.flatMap((row) => toJob(row, read) ?? []));
  return {
    jobs,
    occurrences: await db
      .selectFrom('cron_occurrences')
      .selectAll()
      .orderBy('job_id')
      .orderBy('scheduled_ms')
      .execute(),
    attempts: await db.selectFrom('cron_attempts').selectAll().execute(),
    plans: world.plans.all,
    runs: world.runs.seen,
    writes: world.writes.all,
    wallSteps: world.clock.wallSteps,
    blocked: world.blocked,
    lives: world.lives,
    stalls: world.stalls,
    asked: world.asked,
    maxConcurrentRuns: MAX_RUNS,
    leaseMs: schedulers === 1 ? 0 : LEASE_MS,
    endTrueMs: world.clock.trueMs,
  };
}
