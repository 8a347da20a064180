import type { Clock } from '../../clock.ts';
import type { Log } from '../../log.ts';
import type { SharedStore } from '../store/daemon-store.ts';
import { build, statementOf } from '../store/statements.ts';
import { type Statement, type Store, tookEffect } from '../store/store.ts';
import { jobKeyOf } from '../workstreams/session-keys.ts';
import { findObstacle, type Obstacle, type Owner, type Placed } from './can-own.ts';
import { formerMachine, isMoving, MOVING } from './elsewhere.ts';
import type { WaitingWorkstreams } from './waiting-workstreams.ts';

export interface TakeOverDeps {
  store: Store;
  shared: Pick<SharedStore, 'endWorker' | 'liveWorkers'>;
  /** This machine. */
  owner: Owner;
  /** Learns why the others stay. */
  waiting: Pick<WaitingWorkstreams, 'note' | 'keepOnly'>;
  /** Continues what the machine left: these workstreams, whose rows `from` reads until `takeRows` makes them this daemon's. */
  adopt(moved: Moved): Promise<void>;
  /** Continues jobs that the machine left, which are this daemon's now. */
  takeJobs(jobIds: readonly string[]): void;
  log: Log;
}

export interface Moved {
  from: Store;
  wsIds: readonly string[];
  takeRows(): Promise<unknown>;
}

/**
 * Takes over what the machine had, if its lease has ended: it can write nothing from then on. A workstream that this machine
 * cannot have waits for its own, with its job. Returns how many workstreams and jobs were taken over.
 */
export async function takeOver(machine: string, deps: TakeOverDeps): Promise<number> {
  const { store, shared, log } = deps;
  const movable = await movableFrom(machine, deps);
  const jobs = await movableJobs(machine, movable, store);
  const isEnded = isMoving(machine); // the daemon that took over has died meanwhile
  if (movable.length + jobs.length === 0) {
    if (isEnded) await giveBack(machine, deps);
    return 0;
  }
  const moving = isEnded ? machine : `${MOVING}${machine}`;
  const assign = [...setMachine(movable, machine, moving), ...setMachineOfJobs(jobs, machine, moving)];
  const fence = isEnded ? [] : shared.endWorker(machine);
  if (!(await tookEffect(store.commit({ statements: [...fence, ...assign], durable: true })))) return 0; // it is alive
  const from: Store = Object.create(store, { machine: { value: moving } });
  const takeRows = () => store.commit({ statements: setMachine(movable, moving, null), durable: true });
  if (movable.length > 0) await deps.adopt({ from, wsIds: movable, takeRows });
  // Their runs are known here now.
  await store.commit({ statements: setMachineOfJobs(jobs, moving, null), durable: true });
  deps.takeJobs(jobs);
  const taken = { machine, workstreams: movable.length, jobs: jobs.length };
  log.info(taken, 'the workstreams and jobs of a worker that has gone go on here');
  return movable.length + jobs.length;
}

/** The machine that the workstreams come from. */
export const formerOf = ({ from: { machine } }: Moved): string => formerMachine(machine ?? '');

const setMachine = (wsIds: readonly string[], before: string, after: string | null): Statement[] =>
  pagesOf(wsIds).map((some) =>
    statementOf(
      build.updateTable('workstreams').set({ machine: after }).where('machine', '=', before).where('ws_id', 'in', some),
    ),
  );

/** With their open occurrences, which are all that is left of jobs that were removed. */
const setMachineOfJobs = (jobIds: readonly string[], before: string, after: string | null): Statement[] =>
  pagesOf(jobIds).flatMap((some) => [
    statementOf(
      build.updateTable('cron_jobs').set({ machine: after }).where('machine', '=', before).where('job_id', 'in', some),
    ),
    statementOf(
      build
        .updateTable('cron_occurrences')
        .set({ machine: after })
        .where('machine', '=', before)
        .where('job_id', 'in', some)
        .where('ended_ms', 'is', null),
    ),
  ]);

const pagesOf = (ids: readonly string[]): string[][] =>
  Array.from({ length: Math.ceil(ids.length / AT_ONCE) }, (_, page) => ids.slice(page * AT_ONCE, (page + 1) * AT_ONCE));

/** Those that can go on here. */
async function movableFrom(machine: string, { store, owner, waiting }: TakeOverDeps): Promise<string[]> {
  const placed = store.db.selectFrom('workstreams').select(['ws_id', 'machine_labels', 'workdir', 'workdir_ino']);
  const ofMachine = placed.where('machine', '=', machine).orderBy('ws_id').limit(AT_ONCE);
  const obstacles = new Map<string, Obstacle>();
  for (let last = ''; ; ) {
    const rows: (Placed & { ws_id: string })[] = await ofMachine.where('ws_id', '>', last).execute();
    const found = await Promise.all(rows.map((row) => findObstacle(row, owner)));
    const movable: string[] = [];
    for (const [index, { ws_id }] of rows.entries()) {
      const obstacle = found[index];
      if (obstacle === undefined) movable.push(ws_id);
      else obstacles.set(ws_id, obstacle);
    }
    const isAll = rows.length < AT_ONCE;
    if (movable.length > 0 || isAll) {
      waiting.note(machine, obstacles, { isAll });
      return movable; // those of other pages follow
    }
    last = rows.at(-1)?.ws_id ?? last;
  }
}

/** Gives the machine back what a daemon that has died began to take over, and this one cannot have, unless the machine is alive. */
async function giveBack(moving: string, { store, shared }: TakeOverDeps): Promise<void> {
  const former = formerMachine(moving);
  const tables = ['workstreams', 'cron_jobs', 'cron_occurrences'] as const;
  const assign = tables.map((table) =>
    statementOf(build.updateTable(table).set({ machine: former }).where('machine', '=', moving)),
  );
  await tookEffect(store.commit({ statements: [...shared.endWorker(former), ...assign], durable: true }));
}

/** The jobs of a machine, also removed ones that still run, but those whose workstreams stay with it for now. */
async function movableJobs(machine: string, wsIds: readonly string[], { db }: Store): Promise<string[]> {
  const [rows, open, sessions] = await Promise.all([
    db.selectFrom('cron_jobs').select('job_id').where('machine', '=', machine).execute(),
    db
      .selectFrom('cron_occurrences')
      .select('job_id')
      .where('machine', '=', machine)
      .where('ended_ms', 'is', null)
      .execute(),
    db
      .selectFrom('workstreams')
      .select(['ws_id', 'session_key'])
      .where('machine', '=', machine)
      .where('session_key', 'is not', null)
      .execute(),
  ]);
  const going = new Set(wsIds);
  const staying = new Set(sessions.flatMap(({ ws_id, session_key }) => (going.has(ws_id) ? [] : (session_key ?? []))));
  const jobs = new Set([...rows, ...open].map(({ job_id }) => job_id));
  return [...jobs].filter((jobId) => !staying.has(jobKeyOf(jobId)));
}

const AT_ONCE = 500;
/** How often the active daemon looks for machines that have gone, usually and when one is about to stop. */
const LOOK_MS = 1_000;
const HURRY_LOOK_MS = 50;
/** So long may the stop take. */
const HURRY_MS = 20_000;

/** Looks more often for a while. */
export function createHurry(clock: Pick<Clock, 'monotonic'>) {
  let untilMs = Number.NEGATIVE_INFINITY;
  return {
    begin(): void {
      untilMs = clock.monotonic() + HURRY_MS;
    },
    lookMs: () => (clock.monotonic() < untilMs ? HURRY_LOOK_MS : LOOK_MS),
  };
}

interface WatchDeps {
  takingOver: TakeOverDeps;
  clock: Pick<Clock, 'sleep'>;
  /** How long until it looks again. */
  lookMs(): number;
}

/** Takes over from all machines that have gone, until aborted. */
export async function watchMachines({ takingOver, clock, lookMs }: WatchDeps, signal: AbortSignal): Promise<void> {
  const { store, shared, waiting, log } = takingOver;
  while (!signal.aborted) {
    try {
      const gone = await goneMachines(store, shared);
      waiting.keepOnly(gone);
      for (const machine of gone) await takeOver(machine, takingOver);
    } catch (err) {
      if (!signal.aborted) log.warn({ err }, 'the workstreams of other machines could not be taken over; trying again');
    }
    await clock.sleep(lookMs(), signal).catch(() => undefined); // aborted: the loop ends
  }
}

/** Those with workstreams or jobs whose leases have ended. */
async function goneMachines(store: Store, shared: Pick<SharedStore, 'liveWorkers'>): Promise<string[]> {
  const machines = await machinesOf(store);
  if (machines.length === 0) return [];
  const alive = await shared.liveWorkers();
  return machines.filter((machine) => !alive.has(machine));
}

async function machinesOf({ db }: Store): Promise<string[]> {
  const rows = await db
    .selectFrom('workstreams')
    .select('machine')
    .where('machine', 'is not', null)
    .union(db.selectFrom('cron_jobs').select('machine').where('machine', 'is not', null))
    .union(
      db
        .selectFrom('cron_occurrences')
        .select('machine')
        .where('machine', 'is not', null)
        .where('ended_ms', 'is', null),
    )
    .execute();
  return rows.flatMap(({ machine }) => machine ?? []);
}
