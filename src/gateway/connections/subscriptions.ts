import type { Subscriptions } from '../call.ts';
import type { FollowOptions } from '../events/event-log.ts';
import type { LogReader, Sink } from '../events/log-reader.ts';
import { mayPerceive, type Viewer, type Watched } from '../sharing/perception.ts';
import type { Membership } from './broadcast.ts';
import type { Outbox } from './outbox.ts';

/**
 * Opens a reader of a workstream's log. `onEnd` is called when the workstream was closed and the log has ended.
 * `mayDecide`: this reader may answer approvals, so questions are asked.
 */
export type Follow = (wsId: string, after: number, stream: FollowOptions) => LogReader;

interface SubscriptionsOptions {
  /** The caller. */
  viewer: Viewer;
  follow: Follow;
  outbox: Pick<Outbox, 'push' | 'isReady'>;
  /** Receives which workstreams the connection follows. */
  watching: Pick<Membership, 'watch' | 'unwatch'>;
  /** Whether the caller may answer approvals. */
  mayDecide?: boolean;
}

/** The subscriptions of one connection. */
export interface ConnectionSubscriptions {
  /**
   * The subscriptions for one request to change; `start` opens the readers after its answer was sent, `takeBack` goes on with
   * those before it, if it was refused.
   */
  during(): Subscriptions & { start(): void; takeBack(): void };
  /** The client has room for more. */
  resume(): void;
  close(): void;
}

/** From where a workstream is followed. */
interface Place {
  about: Watched;
  after: number;
  since?: number | undefined;
}

export function createSubscriptions({
  viewer,
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

  function open({ about, after, since }: Place): void {
    const { wsId } = about;
    drop(wsId); // a concurrent request may have subscribed before
    if (!mayPerceive(viewer, about)) {
      watching.unwatch(wsId);
      return; // it became private since the request
    }
    let reader: LogReader | undefined;
    let hasEnded = false;
    const onEnd = () => {
      hasEnded = true;
      if (reader && readers.get(wsId) === reader) remove(wsId);
    };
    reader = follow(wsId, after, { viewer, sink, onEnd, mayDecide, since });
    if (hasEnded) {
      watching.unwatch(wsId);
      return; // it was closed since the request
    }
    readers.set(wsId, reader);
    watching.watch(wsId);
  }

  function remove(wsId: string): boolean {
    const was = drop(wsId);
    if (was) watching.unwatch(wsId);
    return was;
  }

  return {
    during: () => changesOf({ readers, open, drop, remove, isClosed: () => isClosed }),
    resume() {
      for (const [wsId, reader] of [...readers]) {
        if (!outbox.isReady()) return;
        reader.resume();
        if (!readers.delete(wsId)) continue;
        readers.set(wsId, reader); // moved to the end: a reader that got nothing this time is first next time
      }
    },
    close() {
      isClosed = true;
      for (const reader of readers.values()) reader.close();
      readers.clear();
    },
  };
}

interface Changed {
  readers: ReadonlyMap<string, LogReader>;
  open(place: Place): void;
  drop(wsId: string): boolean;
  remove(wsId: string): boolean;
  isClosed(): boolean;
}

function changesOf({ readers, open, drop, remove, isClosed }: Changed): ReturnType<ConnectionSubscriptions['during']> {
  // Created on demand, because few requests subscribe.
  let added: Map<string, Place> | undefined;
  let before: Map<string, Place> | undefined;
  const openAll = (places: Map<string, Place> | undefined): void => {
    if (!isClosed()) for (const place of places?.values() ?? []) open(place);
    added = undefined;
    before = undefined;
  };
  return {
    add(about, after, since) {
      const { wsId } = about;
      const offset = readers.get(wsId)?.offset;
      before ??= new Map();
      if (offset !== undefined && !before.has(wsId)) before.set(wsId, { about, after: offset, since });
      drop(wsId); // nothing from the old position may arrive between the answer and the new position
      added ??= new Map();
      added.set(wsId, { about, after, since });
    },
    remove(wsId) {
      const wasAdded = added?.delete(wsId) === true;
      before?.delete(wsId);
      return remove(wsId) || wasAdded;
    },
    start: () => openAll(added),
    takeBack: () => openAll(before),
  };
}
