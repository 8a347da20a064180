import { type RawBuilder, sql } from 'kysely';
import { GatewayError } from '../../../protocol/errors.ts';
import type { Store } from '../store/store.ts';

const WHAT = 'this workstream or job';

/** A workstream or a job is with another machine: the call about it has to be answered there. */
export class Elsewhere extends Error {
  override readonly name = 'Elsewhere';
  /** The node id of the worker that has it; null: the active daemon. */
  readonly machine: string | null;
  /** Undefined if it does not exist yet, or if another daemon says where it is. */
  readonly wsId: string | undefined;

  constructor(machine: string | null, wsId?: string) {
    super(machine === null ? `the active daemon has ${WHAT}` : `the worker ${machine} has ${WHAT}`);
    this.machine = machine;
    this.wsId = wsId;
  }
}

/** Whose workstreams this daemon runs. */
type Hosting = Pick<Store, 'machine'>;

/** Returns the row of a workstream or job that this daemon runs. Throws Elsewhere for one of another machine. */
export function requireHere<R extends { ws_id?: string; machine: string | null } | undefined>(
  row: R,
  { machine }: Hosting,
): R {
  if (row !== undefined && row.machine !== machine) throw new Elsewhere(row.machine, row.ws_id);
  return row;
}

/** The same rule for rows of the table `workstreams`. */
export const hostedBy = ({ machine }: Hosting): RawBuilder<boolean> =>
  machine === null ? sql<boolean>`workstreams.machine is null` : sql<boolean>`workstreams.machine = ${machine}`;

/** The same rule for rows of the tables of jobs, one at a time. */
export const ofMachine = ({ machine }: Hosting): RawBuilder<boolean> =>
  machine === null ? sql<boolean>`machine is null` : sql<boolean>`machine = ${machine}`;

/** Rows that it does not hold for. */
export const ofOthers = ({ machine }: Hosting): RawBuilder<boolean> =>
  machine === null ? sql<boolean>`machine is not null` : sql<boolean>`(machine is null or machine <> ${machine})`;

/** What is being taken over has this in front of the name of its former machine. */
export const MOVING = 'moving ';

/** Whether the active daemon is taking over what this names. */
export const isMoving = (machine: string): boolean => machine.startsWith(MOVING);

export const formerMachine = (machine: string): string => (isMoving(machine) ? machine.slice(MOVING.length) : machine);

/** For rows of other tables, which name a workstream in the column `ws_id`. */
export const inHosted = ({ machine }: Hosting): RawBuilder<boolean> =>
  machine === null
    ? sql<boolean>`ws_id not in (select ws_id from workstreams where machine is not null)`
    : sql<boolean>`ws_id in (select ws_id from workstreams where machine = ${machine})`;

/** Nothing was sent. */
export const unreachable = (machine: string, cause?: unknown): GatewayError =>
  new GatewayError('UNAVAILABLE', `${formerMachine(machine)}, which has ${WHAT}, cannot be reached now`, {
    retryAfterMs: 1_000,
    cause,
  });

interface Following<T> {
  /** Throws Elsewhere if another machine has the workstream. */
  here(): T | Promise<T>;
  /** Asks a worker, which throws Elsewhere if the workstream has left it. */
  there(machine: string, elsewhere: Elsewhere): Promise<T>;
}

/** A workstream that moves on while it is looked for is followed so often. */
const MOST_MOVES = 5;

/** What the machine answers that has the workstream, after `error` was thrown here; also if it moves meanwhile. */
export async function following<T>(error: unknown, { here, there }: Following<T>): Promise<T> {
  let latest = error;
  for (let moves = 0; latest instanceof Elsewhere && latest.machine !== null; moves += 1) {
    const { machine } = latest;
    if (moves === MOST_MOVES) throw unreachable(machine, latest);
    try {
      return await there(machine, latest);
    } catch (failure) {
      if (!(failure instanceof Elsewhere)) throw failure;
    }
    try {
      return await here();
    } catch (failure) {
      latest = failure;
    }
  }
  throw latest;
}
