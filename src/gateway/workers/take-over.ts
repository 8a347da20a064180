import type { FolderIdentity } from '../../agent/tools/files/held-folder.ts';
import type { Clock } from '../../clock.ts';
import type { Log } from '../../log.ts';
import type { SharedStore } from '../store/daemon-store.ts';
import type { WorkstreamTable } from '../store/schema/schema.ts';
import { build, statementOf } from '../store/statements.ts';
import { type Store, tookEffect } from '../store/store.ts';

export interface TakeOverDeps {
  store: Store;
  shared: Pick<SharedStore, 'endWorker' | 'liveWorkers'>;
  /** The folder at a path, checked like any other; rejects if there is none. */
  identify(path: string): Promise<FolderIdentity>;
  /** Continues what the machine left: these workstreams, whose rows `from` reads until `takeRows` makes them this daemon's. */
  adopt(moved: Moved): Promise<void>;
  log: Log;
}

export interface Moved {
  from: Store;
  wsIds: readonly string[];
  takeRows(): Promise<unknown>;
}

/** Rows that are taken over have this in front of the name of their former machine until they are. */
const MOVING = 'moving ';

/**
 * Takes over what the machine had, if its lease has ended: it can write nothing from then on. A workstream whose folder is
 * not on this machine waits for its own. Returns how many were taken over.
 */
export async function takeOver(machine: string, deps: TakeOverDeps): Promise<number> {
  const { store, shared, log } = deps;
  const movable = await movableFrom(machine, deps);
  if (movable.length === 0) return 0;
  const isEnded = machine.startsWith(MOVING); // the daemon that took over has died meanwhile
  const moving = isEnded ? machine : `${MOVING}${machine}`;
  const assign = setMachine(movable, machine, moving);
  const fence = isEnded ? [] : shared.endWorker(machine);
  if (!(await tookEffect(store.commit({ statements: [...fence, assign], durable: true })))) return 0; // it is alive
  const from: Store = Object.create(store, { machine: { value: moving } });
  const takeRows = () => store.commit({ statements: [setMachine(movable, moving, null)], durable: true });
  await deps.adopt({ from, wsIds: movable, takeRows });
  log.info({ machine, workstreams: movable.length }, 'the workstreams of a worker that has gone go on here');
  return movable.length;
}

const setMachine = (wsIds: readonly string[], before: string, after: string | null) =>
  statementOf(
    build.updateTable('workstreams').set({ machine: after }).where('machine', '=', before).where('ws_id', 'in', wsIds),
  );

type Placed = Pick<WorkstreamTable, 'ws_id' | 'workdir' | 'workdir_ino'>;

/** Those that can go on here. */
async function movableFrom(machine: string, { store, identify }: TakeOverDeps): Promise<string[]> {
  const placed = store.db.selectFrom('workstreams').select(['ws_id', 'workdir', 'workdir_ino']);
  const ofMachine = placed.where('machine', '=', machine).orderBy('ws_id').limit(AT_ONCE);
  const isHere = async ({ workdir, workdir_ino }: Placed): Promise<boolean> => {
    const found = await identify(workdir).catch(() => undefined);
    return found !== undefined && (workdir_ino === null || found.ino === workdir_ino);
  };
  for (let last = ''; ; ) {
    const rows: Placed[] = await ofMachine.where('ws_id', '>', last).execute();
    const here = await Promise.all(rows.map(isHere));
    const movable = rows.filter((_, index) => here[index]).map(({ ws_id }) => ws_id);
    if (movable.length > 0 || rows.length < AT_ONCE) return movable; // those of other pages follow
    last = rows.at(-1)?.ws_id ?? last;
  }
}

const AT_ONCE = 500;
/** How often the active daemon looks for machines that have gone. */
const LOOK_MS = 1_000;

interface WatchDeps {
  takingOver: TakeOverDeps;
  clock: Pick<Clock, 'sleep'>;
}

/** Takes over from all machines that have gone, until aborted. */
export async function watchMachines({ takingOver, clock }: WatchDeps, signal: AbortSignal): Promise<void> {
  const { store, shared, log } = takingOver;
  while (!signal.aborted) {
    try {
      for (const machine of await goneMachines(store, shared)) await takeOver(machine, takingOver);
    } catch (err) {
      if (!signal.aborted) log.warn({ err }, 'the workstreams of other machines could not be taken over; trying again');
    }
    await clock.sleep(LOOK_MS, signal).catch(() => undefined); // aborted: the loop ends
  }
}

/** Those with workstreams whose leases have ended. */
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
    .distinct()
    .where('machine', 'is not', null)
    .execute();
  return rows.flatMap(({ machine }) => machine ?? []);
}
