import type { KyselyPlugin } from 'kysely';
import { GatewayError } from '../../../protocol/errors.ts';
import type { Store, Unit } from '../../../src/gateway/store/store.ts';

/** The fault at one commit: it is refused, or the process dies just before it, or just after it is on disk. */
export interface StoreFault {
  kind: 'unavailable' | 'kill before' | 'kill after';
  /** The number of the commit, counted from 1 among those that match `matches`, if given. */
  nth: number;
  matches?(unit: Unit): boolean;
}

/** A store whose nth commit fails once; everything else is passed to the given store. */
export function faultyStore(store: Store, fault: StoreFault): Store {
  let seen = 0;
  const isDue = (unit: Unit): boolean => {
    if (fault.matches && !fault.matches(unit)) return false;
    seen += 1;
    return seen === fault.nth;
  };
  return {
    db: store.db,
    words: store.words,
    machine: store.machine,
    epoch: store.epoch,
    commit: (unit) => (isDue(unit) ? fail(store, unit, fault.kind) : store.commit(unit)),
    emptyLog: () => store.emptyLog(),
    onCommit: (toElsewhere) => store.onCommit(toElsewhere),
    onCommitted: (listener) => store.onCommitted(listener),
    waiting: () => store.waiting(),
    onWritten: (listener) => store.onWritten(listener),
    openLogs: (wsIds) => store.openLogs(wsIds),
    beginLog: (wsId) => store.beginLog(wsId),
    bounds: (wsId) => store.bounds(wsId),
    readEvents: (wsId, after, limit) => store.readEvents(wsId, after, limit),
    findNewestEvent: (wsId, type, before) => store.findNewestEvent(wsId, type, before),
    readMessages: (wsId, range) => store.readMessages(wsId, range),
    reportDamage: (error) => store.reportDamage(error),
    health: () => store.health(),
  };
}

async function fail(store: Store, unit: Unit, kind: StoreFault['kind']): Promise<number> {
  if (kind === 'unavailable') throw noWrites();
  if (kind === 'kill after') await store.commit(unit);
  process.kill(process.pid, 'SIGKILL');
  return new Promise(() => undefined); // the signal has not been delivered yet
}

/** The error of the real store while the disk refuses writes. */
export const noWrites = (): GatewayError =>
  new GatewayError('UNAVAILABLE', 'Cannot write to the disk', { retryAfterMs: 1_000 });

export type StoreCall = 'commit' | 'read';

/**
 * A store that asks before each read, and before each group of commits of one turn, which error to fail with; `undefined`
 * lets the call through.
 */
export function tappedStore<S extends Store>(store: S, failureOf: (call: StoreCall) => Error | undefined): S {
  let group: { unit: Unit; answer: PromiseWithResolvers<number> }[] = [];
  const flush = () => {
    const failure = failureOf('commit');
    for (const { unit, answer } of group) {
      if (failure) answer.reject(failure);
      else store.commit(unit).then(answer.resolve, answer.reject);
    }
    group = [];
  };
  const onRead = () => {
    const failure = failureOf('read');
    if (failure) throw failure;
  };
  const plugin: KyselyPlugin = {
    transformQuery({ node }) {
      onRead();
      return node;
    },
    transformResult: async ({ result }) => result,
  };
  return {
    ...store,
    db: store.db.withPlugin(plugin),
    commit(unit: Unit) {
      const answer = Promise.withResolvers<number>();
      if (group.push({ unit, answer }) === 1) setImmediate(flush);
      return answer.promise;
    },
    async readEvents(wsId: string, after: number, limit: number) {
      onRead();
      return store.readEvents(wsId, after, limit);
    },
    async findNewestEvent(...event: Parameters<Store['findNewestEvent']>) {
      onRead();
      return store.findNewestEvent(...event);
    },
    async readMessages(...range: Parameters<Store['readMessages']>) {
      onRead();
      return store.readMessages(...range);
    },
  };
}
