import type { Clock } from '../../../clock.ts';
import type { Log } from '../../../log.ts';
import { createTold } from '../../../timing/told.ts';
import type { Unit, UnitEvents } from '../store.ts';
import { damaged, unavailable } from '../store-fault.ts';
import { type Listener, notify, settle, type UnitQueue, type Waiting } from '../unit-queue.ts';
import { postgresFaultOf } from './postgres-errors.ts';
import type { PostgresGroup } from './postgres-writer.ts';

export interface QueueDeps {
  write(units: readonly Unit[]): Promise<PostgresGroup>;
  clock: Pick<Clock, 'monotonic'>;
  log: Log;
  /** Why nothing is taken now. */
  refusal(): string | undefined;
  /** Waits, and resolves to whether a group that could not be written because of this, and of which nothing was, can be written now. */
  mayTryAgain(error: unknown): Promise<boolean>;
  onFailure(error: unknown): void;
  onDamage(error: unknown): void;
}

/** A queue whose groups are written one after another; `close` waits for the last one. */
export interface PostgresQueue extends Omit<UnitQueue, 'close'> {
  /** Refuses what waits behind the group that is being written, of which nobody knows when it ends. */
  refuseWaiting(error: unknown): void;
  /** Calls back after each commit with the names of the tables that it changed. */
  onTables(listener: (tables: ReadonlySet<string>) => void): void;
  close(): Promise<void>;
}

/**
 * Collects the units of a turn of the event loop, and all that come while a group is being written, as the next group. A group
 * is written again after the connection was lost. If it cannot be written, what waits behind it is refused, too: its callers
 * did not know yet that something before it is missing.
 */
export function createPostgresQueue(deps: QueueDeps): PostgresQueue {
  const listeners: Listener[] = [];
  const watchers: ((seconds: number) => void)[] = [];
  const tables = createTold<ReadonlySet<string>>();
  let waiting: Waiting[] = [];
  let writing: Promise<void> | undefined;
  let closed = false;
  const refusalNow = throughTurn(deps.refusal);
  let toElsewhere: (unit: Unit) => readonly UnitEvents[] = () => [];

  const flush = (): void => {
    writing ??= writeAll().finally(() => {
      writing = undefined;
    });
  };
  const writeAll = async (): Promise<void> => {
    while (waiting.length > 0) {
      const group = waiting;
      waiting = [];
      await write(group);
    }
  };
  const write = async (group: readonly Waiting[]): Promise<void> => {
    const beganMs = deps.clock.monotonic();
    try {
      const result = await persist(
        deps,
        group.map(({ unit }) => unit),
      );
      for (const listener of listeners) notify(listener, result.appended, deps.log);
      settle(group, result);
      tables.tell(() => tablesOf(group));
    } catch (error) {
      refuse(group, error);
    } finally {
      const seconds = (deps.clock.monotonic() - beganMs) / 1000;
      for (const watcher of watchers) watcher(seconds);
    }
  };
  const refuse = (group: readonly Waiting[], error: unknown): void => {
    const isDamage = postgresFaultOf(error) === 'damaged';
    if (isDamage) deps.onDamage(error);
    else deps.onFailure(error);
    if (isDamage) for (const { reject } of group) reject(damaged(error));
    else refuseAll([...group, ...waiting.splice(0)], error);
  };
  const refuseWaiting = (error: unknown): void => refuseAll(waiting.splice(0), error);

  return {
    commit(asked) {
      if (closed) return Promise.reject(unavailable('The store is closed'));
      const refusal = refusalNow();
      if (refusal !== undefined) return refusedLater(refusal);
      const more = toElsewhere(asked);
      const unit = more.length === 0 ? asked : { ...asked, elsewhere: [...(asked.elsewhere ?? []), ...more] };
      return new Promise((resolve, reject) => {
        if (waiting.push({ unit, resolve, reject }) === 1) setImmediate(flush);
      });
    },
    onCommit(next) {
      toElsewhere = next;
    },
    onCommitted(listener) {
      listeners.push(listener);
    },
    waiting: () => waiting.length,
    refuseWaiting,
    onTables: tables.add,
    onWritten(listener) {
      watchers.push(listener);
    },
    async close() {
      closed = true;
      flush();
      await writing;
    },
  };
}

function refuseAll(group: readonly Waiting[], error: unknown): void {
  for (const { reject } of group) reject(unavailable('Cannot write to the database', error));
}

/** Events are not among them. */
function tablesOf(group: readonly Waiting[]): ReadonlySet<string> {
  const statements = group.flatMap(({ unit }) => unit.statements ?? []);
  return new Set(statements.flatMap(({ sql }) => WRITTEN.exec(sql)?.[1] ?? []));
}

const WRITTEN = /^\s*(?:insert\s+into|update|delete\s+from)\s+"?(\w+)/i;

/** A group that ends its connection each time must not do so for ever. */
const MOST_ATTEMPTS = 4;

async function persist(
  { write, mayTryAgain }: Pick<QueueDeps, 'write' | 'mayTryAgain'>,
  units: readonly Unit[],
): Promise<PostgresGroup> {
  for (let attempts = 1; ; attempts += 1) {
    try {
      return await write(units);
    } catch (error) {
      if (attempts === MOST_ATTEMPTS || !(await mayTryAgain(error))) throw error;
    }
  }
}

/** Callers of refused units learn it at the end of the turn; until then, nothing that follows these units may be written. */
function throughTurn(refusal: QueueDeps['refusal']): QueueDeps['refusal'] {
  let held: string | undefined;
  return () => {
    const reason = refusal() ?? held;
    if (reason === undefined || held !== undefined) return reason;
    held = reason;
    setImmediate(() =>
      setImmediate(() => {
        held = undefined;
      }),
    );
    return reason;
  };
}

/** At the end of the turn, like every other result, so that a caller that tries again at once lets others work. */
const refusedLater = (reason: string): Promise<never> =>
  new Promise((_resolve, reject) => setImmediate(reject, unavailable(reason)));
