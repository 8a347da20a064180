import type { Subscriptions } from '../call.ts';
import type { LogReader, Sink } from '../events/log-reader.ts';
import type { Membership } from './broadcast.ts';
import type { Outbox } from './outbox.ts';

/**
 * Opens a reader of a workstream's log; `onEnd` when the log has no more to come because the workstream was closed;
 * `mayDecide`: whoever reads may answer questions, so they are asked.
 */
export type Follow = (
  wsId: string,
  after: number,
  stream: { sink: Sink; onEnd(): void; mayDecide?: boolean },
) => LogReader;

interface SubscriptionsOptions {
  follow: Follow;
  outbox: Pick<Outbox, 'push' | 'isReady'>;
  /** Hears which workstreams the connection wants. */
  watching: Pick<Membership, 'watch' | 'unwatch'>;
  /** Whoever the connection is of may answer questions. */
  mayDecide?: boolean;
}

/** What one connection follows. */
export interface ConnectionSubscriptions {
  /** The subscriptions as one request may change them; `start` opens the readers once its answer is on the way. */
  during(): Subscriptions & { start(): void };
  /** The client can take more. */
  resume(): void;
  close(): void;
}

export function createSubscriptions({
  follow,
  outbox,
  watching,
  mayDecide = false,
}: SubscriptionsOptions): ConnectionSubscriptions {
  const readers = new Map<string, LogReader>();
  let isClosed = false;
  const sink: Sink = {
    ready: () => outbox.isReady(),
    write(entries) {
      for (const entry of entries) outbox.push(entry.wsFrame());
    },
  };

  function drop(wsId: string): boolean {
    readers.get(wsId)?.close();
    return readers.delete(wsId);
  }

  function open(wsId: string, after: number): void {
    drop(wsId); // a request that ran beside this one may have been faster
    let reader: LogReader | undefined;
    const onEnd = () => {
      if (reader && readers.get(wsId) === reader) remove(wsId);
    };
    reader = follow(wsId, after, { sink, onEnd, mayDecide });
    readers.set(wsId, reader);
    watching.watch(wsId);
  }

  function remove(wsId: string): boolean {
    const was = drop(wsId);
    if (was) watching.unwatch(wsId);
    return was;
  }

  return {
    during() {
      let added: Map<string, number> | undefined; // few requests follow anything
      return {
        add(wsId, offset) {
          drop(wsId); // nothing of the old place may come between the answer and the new one
          added ??= new Map();
          added.set(wsId, offset);
        },
        remove(wsId) {
          const wasAdded = added?.delete(wsId) === true;
          return remove(wsId) || wasAdded;
        },
        start() {
          if (isClosed || !added) return;
          for (const [wsId, after] of added) open(wsId, after);
          added = undefined;
        },
      };
    },
    resume() {
      for (const [wsId, reader] of [...readers]) {
        if (!outbox.isReady()) return;
        reader.resume();
        if (!readers.delete(wsId)) continue;
        readers.set(wsId, reader); // at the end: whoever got nothing this time is first the next
      }
    },
    close() {
      isClosed = true;
      for (const reader of readers.values()) reader.close();
      readers.clear();
    },
  };
}
