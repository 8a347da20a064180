import { sql } from 'kysely';
import type { Clock } from '../../../clock.ts';
import type { Log } from '../../../log.ts';
import type { WorkstreamTable } from '../../store/schema/schema.ts';
import type { Store } from '../../store/store.ts';
import { whyFixed } from './movable.ts';
import type { Moves } from './moves.ts';

/** How many workstreams a machine has loaded; null is the active daemon. */
export type Loads = ReadonlyMap<string | null, number>;

/** Some workstreams that are to go from one machine to another. */
interface Shift {
  from: string | null;
  to: string | null;
  most: number;
}

/** So many move at a time, so that few clients notice. */
const AT_ONCE = 4;
/** A smaller difference stays as it is. */
const LEAST_DIFFERENCE = 4;

/**
 * What makes the loads more even. Nothing, unless one machine has more than twice as many as another one, and at least four
 * more. It never leaves the receiver with more than the giver, so that nothing goes back.
 */
export function shiftFor(loads: Loads): Shift | undefined {
  const sorted = [...loads].sort(([, a], [, b]) => a - b);
  const [least, most] = [sorted.at(0), sorted.at(-1)];
  if (least === undefined || most === undefined) return undefined;
  const difference = most[1] - least[1];
  if (most[1] <= 2 * least[1] || difference < LEAST_DIFFERENCE) return undefined;
  return { from: most[0], to: least[0], most: Math.min(AT_ONCE, Math.floor(difference / 2)) };
}

interface BalanceDeps {
  store: Pick<Store, 'db'>;
  moves: Pick<Moves, 'transfer' | 'obstacles'>;
  loads(): Loads;
  clock: Clock;
  log: Log;
}

/** Evens out which machines have how many workstreams. */
export interface Balance {
  /** These came here only because their machine was lost, or stopped. They go back when it is there again. */
  cameFrom(machine: string, wsIds: readonly string[]): void;
  /** Looks again and again, until aborted. */
  run(signal: AbortSignal): Promise<void>;
}

/** How often it looks. Loads are told each second, so that it sees what it has moved. */
const LOOK_MS = 10_000;
/** A workstream that was used more recently stays, because it is likely to be used again. */
const UNUSED_MS = 3 * 60_000;
/** One that goes back to its own machine waits only for a pause. */
const PAUSE_MS = 30_000;
/** One that has just moved stays. */
const STAYS_MS = 10 * 60_000;
/** So many are looked at to find those that may move. */
const LOOKED_AT = 200;
/** More are not remembered; balancing moves them as well. */
const MOST_REMEMBERED = 20_000;

/** Changes of files can be undone only where they were made. */
const CANNOT_UNDO = sql<boolean>`not exists (select 1 from checkpoints where checkpoints.ws_id = workstreams.ws_id)`;

type Row = Pick<
  WorkstreamTable,
  'ws_id' | 'machine_labels' | 'workdir' | 'workdir_ino' | 'session_key' | 'kind' | 'parent_ws_id'
>;

export function createBalance({ store, moves, loads, clock, log }: BalanceDeps): Balance {
  const homes = new Map<string, string>();
  /** When those were moved that moved lately, by the monotonic clock. */
  const movedMs = new Map<string, number>();

  /** Those of a machine that were not used for a while, oldest first. */
  const unusedAt = (machine: string | null, unusedMs: number) =>
    store.db
      .selectFrom('workstreams')
      .select(['ws_id', 'machine_labels', 'workdir', 'workdir_ino', 'session_key', 'kind', 'parent_ws_id'])
      .where('machine', machine === null ? 'is' : '=', machine)
      .where('updated_ms', '<', clock.now() - unusedMs)
      .orderBy('updated_ms')
      .limit(LOOKED_AT);
  const moveSome = async ({ from, to, most }: Shift, rows: readonly Row[]): Promise<void> => {
    const mayMove = rows.filter((row) => whyFixed(row) === undefined);
    const obstacles = mayMove.length === 0 ? [] : await moves.obstacles(to, mayMove);
    const wsIds = mayMove.flatMap(({ ws_id }, index) => (obstacles[index] === null ? [ws_id] : [])).slice(0, most);
    if (wsIds.length === 0) return;
    const { moved } = await moves.transfer(wsIds, { from, to });
    for (const { wsId } of moved) {
      movedMs.set(wsId, clock.monotonic());
      homes.delete(wsId);
    }
    if (moved.length > 0)
      log.info({ from, to, workstreams: moved.length }, 'workstreams have moved to another machine');
  };
  const goBack = async (machine: string): Promise<void> => {
    const own = [...homes].flatMap(([wsId, home]) => (home === machine ? [wsId] : [])).slice(0, LOOKED_AT);
    if (own.length === 0) return;
    const rows = await unusedAt(null, PAUSE_MS).where('ws_id', 'in', own).execute();
    for (const wsId of own) homes.delete(wsId);
    await moveSome({ from: null, to: machine, most: AT_ONCE }, rows);
    for (const wsId of own) if (!movedMs.has(wsId)) homes.set(wsId, machine); // after all others
  };
  const evenOut = async (): Promise<void> => {
    const shift = shiftFor(loads());
    if (shift === undefined) return;
    const rows = await unusedAt(shift.from, UNUSED_MS).where('loaded', '=', 1).where(CANNOT_UNDO).execute();
    await moveSome(
      shift,
      rows.filter(({ ws_id }) => !movedMs.has(ws_id)),
    );
  };
  const look = async (): Promise<void> => {
    for (const [wsId, atMs] of movedMs) if (clock.monotonic() - atMs > STAYS_MS) movedMs.delete(wsId);
    for (const machine of loads().keys()) if (machine !== null) await goBack(machine);
    await evenOut();
  };

  return {
    cameFrom(machine, wsIds) {
      for (const wsId of wsIds) if (homes.size < MOST_REMEMBERED) homes.set(wsId, machine);
    },
    async run(signal) {
      while (!signal.aborted) {
        await clock.sleep(LOOK_MS, signal).catch(() => undefined); // aborted: the loop ends
        if (signal.aborted) return;
        await look().catch((err: unknown) => log.info({ err }, 'workstreams could not be moved; trying again'));
      }
    },
  };
}
