import type { Clock } from '../../clock.ts';
import type { Log } from '../../log.ts';
import type { GroupResult, GroupWriter } from './group-writer.ts';
import { faultOf } from './sqlite/sqlite-errors.ts';
import type { StoredEvent, Unit, UnitEvents } from './store.ts';
import { damaged, unavailable } from './store-fault.ts';

export type Listener = (appended: ReadonlyMap<string, readonly StoredEvent[]>) => void;

/** A unit that waits for its group. */
export interface Waiting {
  unit: Unit;
  resolve(offset: number): void;
  reject(error: Error): void;
}

/** Collects the units of one turn of the event loop and writes them as a group at its end (decision 5). */
export interface UnitQueue {
  commit(unit: Unit): Promise<number>;
  /** See `Store.onCommit`. */
  onCommit(toElsewhere: (unit: Unit) => readonly UnitEvents[]): void;
  onCommitted(listener: Listener): void;
  /** How many units wait for the end of this turn. */
  waiting(): number;
  /** Calls back after each attempt to write a group, with the time that it took. */
  onWritten(listener: (seconds: number) => void): void;
  /** Writes what is queued and refuses later units. */
  close(): void;
}

/** Unbounded within a turn: a caller that commits faster than the disk can write must await the promise. */
export function createUnitQueue(deps: {
  write: GroupWriter;
  clock: Pick<Clock, 'monotonic'>;
  log: Log;
  onResult(result: GroupResult): void;
  onFailure(error: unknown): void;
  onDamage(error: unknown): void;
}): UnitQueue {
  const listeners: Listener[] = [];
  const watchers: ((seconds: number) => void)[] = [];
  let waiting: Waiting[] = [];
  let closed = false;
  let toElsewhere: (unit: Unit) => readonly UnitEvents[] = () => [];

  const flush = (): void => {
    const group = waiting;
    waiting = [];
    if (group.length > 0) write(group);
  };
  const write = (group: readonly Waiting[]): void => {
    let result: GroupResult;
    try {
      result = timed(() => deps.write(group.map(({ unit }) => unit)));
    } catch (error) {
      if (faultOf(error) === 'damaged') writeApart(group, error);
      else refuse(group, error);
      return;
    }
    deps.onResult(result);
    for (const listener of listeners) notify(listener, result.appended, deps.log);
    settle(group, result);
  };
  const timed = <T>(work: () => T): T => {
    const beganMs = deps.clock.monotonic();
    try {
      return work();
    } finally {
      const seconds = (deps.clock.monotonic() - beganMs) / 1000;
      for (const watcher of watchers) watcher(seconds);
    }
  };
  const refuse = (group: readonly Waiting[], error: unknown): void => {
    deps.onFailure(error);
    for (const { reject } of group) reject(unavailable('Cannot write to the disk', error));
  };
  /** Writes the units one by one, so that only those that touch damaged data are refused. */
  const writeApart = (group: readonly Waiting[], error: unknown): void => {
    deps.onDamage(error);
    const [only, ...others] = group;
    if (others.length === 0) only?.reject(damaged(error));
    else for (const waiter of group) write([waiter]);
  };

  return {
    commit(asked) {
      if (closed) return Promise.reject(unavailable('The store is closed'));
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
    onWritten(listener) {
      watchers.push(listener);
    },
    close() {
      closed = true;
      flush();
    },
  };
}

/** Calls a listener; its failure affects nobody else. */
export function notify(listener: Listener, appended: GroupResult['appended'], log: Log): void {
  try {
    listener(appended);
  } catch (err) {
    log.error({ err }, 'a listener of committed groups failed');
  }
}

/** Tells the owners of the units what became of them. */
export function settle(group: readonly Waiting[], { outcomes }: Pick<GroupResult, 'outcomes'>): void {
  for (const [index, { resolve, reject }] of group.entries()) {
    const outcome = outcomes[index];
    if (outcome?.kind === 'done') resolve(outcome.offset);
    else reject(outcome?.error ?? new Error('a unit has no outcome'));
  }
}
