import type { Clock } from '../../clock.ts';
import type { Log } from '../../log.ts';
import { createTold } from '../../timing/told.ts';
import { type Audience, type AudienceTerms, audienceFrom, EVERYONE } from '../sharing/audience.ts';
import type { Viewer } from '../sharing/perception.ts';
import type { Store, StoredEvent } from '../store/store.ts';
import { Approvers } from './approvers.ts';
import { joinDeltas } from './join-deltas.ts';
import { LogEnds } from './log-ends.ts';
import { toLogEntry } from './log-entry.ts';
import type { LogEntry, LogReader, Sink } from './log-reader.ts';
import { type PulledLogs, PullReader, type PullReaderDeps } from './pull-reader.ts';
import { createTail, type Tail } from './tail.ts';

/** A reader that is further behind gets adjacent deltas joined. */
const LAG_EVENTS = 24;
const PAGE = 512;

/** The part of the store that reads logs. */
export type LogStore = Pick<Store, 'epoch' | 'beginLog' | 'bounds' | 'readEvents' | 'onCommitted'> &
  Pick<Store, 'noteGrowth' | 'rereadLogs'>;

/** What happens to a log, as data. */
export type ToldLog =
  | { kind: 'events'; wsId: string; events: readonly StoredEvent[] }
  | { kind: 'transient'; wsId: string; json: string; key?: string }
  | { kind: 'ended'; wsId: string }
  | { kind: 'released'; wsId: string }
  | { kind: 'left'; wsId: string; terms: AudienceTerms };

type Listener = (wsId: string, entries: readonly LogEntry[]) => void;

/** Before a page is read again that could not be read. */
const RETRY_MS = 1_000;
const NEVER = new AbortController().signal;

interface EventLogDeps {
  store: LogStore;
  clock: Pick<Clock, 'sleep'>;
  log: Log;
  /** Called after a commit was offered to the readers, to write it to clients. Default: written at the end of the turn. */
  onOffered?: () => void;
}

export interface FollowOptions {
  /** Who reads; `endFor` ends the reader when they no longer perceive the workstream. */
  viewer: Viewer;
  sink: Sink;
  onEnd?: () => void;
  /** Whether this reader may approve. */
  mayDecide?: boolean;
  /** `endings` when the beginning was read. A log that has ended since then is not followed: `onEnd` is called at once. */
  since?: number | undefined;
  onWritten?: PullReaderDeps['onWritten'];
}

interface Follower {
  viewer: Viewer;
  sink: Sink;
  onEnd: (() => void) | undefined;
}

/**
 * The live side of the stored logs: a shared tail per workstream, and readers that pull from the tail or from the
 * store.
 */
export class EventLog {
  readonly #store: LogStore;
  readonly #clock: Pick<Clock, 'sleep'>;
  readonly #log: Log;
  readonly #onOffered: () => void;
  readonly #tails = new Map<string, Tail>();
  readonly #followers = new Map<string, Map<PullReader, Follower>>();
  readonly #approvers = new Approvers();
  readonly #listeners = new Set<Listener>();
  readonly #told = createTold<ToldLog>();
  readonly #ends = new LogEnds();
  readonly #logs: PulledLogs = {
    tail: (wsId, offset) => this.#fromTail(wsId, offset),
    page: (wsId, offset) => this.#fromStore(wsId, offset),
    onFailed: ({ wsId, error, isNew, again }) => {
      if (isNew) this.#log.error({ err: error, wsId }, 'a reader could not read the log; trying again');
      this.#retry(again);
    },
  };

  constructor({ store, clock, log, onOffered = () => undefined }: EventLogDeps) {
    this.#store = store;
    this.#clock = clock;
    this.#log = log;
    this.#onOffered = onOffered;
    store.onCommitted((appended) => {
      this.#take(appended);
      for (const [wsId, added] of appended) this.#told.tell(() => ({ kind: 'events', wsId, events: added }));
    });
  }

  get epoch(): string {
    return this.#store.epoch;
  }

  /** Nothing else would wake a reader of a log in which nothing happens. */
  #retry(again: () => void): void {
    void this.#clock.sleep(RETRY_MS, NEVER).then(again, () => undefined);
  }

  /** How many logs have ended so far: see `since`. */
  get endings(): number {
    return this.#ends.count;
  }

  bounds(wsId: string): { first: number; last: number } {
    return this.#store.bounds(wsId);
  }

  /** One page of a log, as stored. */
  page(wsId: string, after: number, limit: number): Promise<StoredEvent[]> {
    return this.#store.readEvents(wsId, after, limit);
  }

  /** Writes every event after `after` into the sink, as fast as the sink accepts them, until closed. */
  follow(wsId: string, after: number, options: FollowOptions): LogReader {
    const { viewer, sink, onEnd, mayDecide = false, since, onWritten } = options;
    if (since !== undefined && this.#ends.hasEnded(wsId, since)) return endedReader(after, onEnd);
    const group = this.#followers.get(wsId) ?? new Map<PullReader, Follower>();
    this.#followers.set(wsId, group);
    const onClosed = (closed: PullReader) => {
      group.delete(closed);
      if (mayDecide) this.#approvers.leave(wsId);
      if (group.size === 0 && this.#followers.get(wsId) === group) this.#followers.delete(wsId);
    };
    const reader = new PullReader({ wsId, after, sink, logs: this.#logs, onWritten, onClosed });
    group.set(reader, { viewer, sink, onEnd });
    if (mayDecide) this.#approvers.enter(wsId);
    reader.resume();
    return reader;
  }

  /** Whether the log has a reader that may approve, here or at the active daemon. */
  isWatched(wsId: string): boolean {
    return this.#approvers.has(wsId);
  }

  /** The readers that may approve. */
  get approvers(): Approvers {
    return this.#approvers;
  }

  /**
   * Sends a frame that is not in the log to all current readers. Those that are behind get it once they have caught up, if it
   * has a key and no later one has the same key.
   */
  transient(wsId: string, json: string, key?: string): void {
    this.#told.tell(() => ({ kind: 'transient', wsId, json, ...(key !== undefined && { key }) }));
    for (const reader of this.#followers.get(wsId)?.keys() ?? []) reader.transient(json, key);
  }

  /** Calls back for what readers get besides the events, for the daemon that this one tells of it. */
  onTold(listener: (told: ToldLog) => void): void {
    this.#told.add(listener);
  }

  /** The same at another daemon, to its readers. The log grows only there. */
  retell(told: ToldLog): void {
    const { wsId } = told;
    if (told.kind === 'transient') this.transient(wsId, told.json, told.key);
    else if (told.kind === 'ended') this.end(wsId);
    else if (told.kind === 'released') this.release(wsId);
    else if (told.kind === 'left') this.leave(wsId, audienceFrom(told.terms));
    else if (told.kind === 'events') this.#grow(wsId, told.events); // a newer version may tell more
  }

  /** Like `endFor`, of a log of another daemon: readers that begin now may have been allowed there before. They begin again. */
  leave(wsId: string, audience: Audience): void {
    this.#ends.add(wsId);
    this.endFor(wsId, audience);
  }

  /** Goes on with logs of which another daemon may have told not everything. */
  async resync(wsIds: readonly string[]): Promise<void> {
    await this.#store.rereadLogs?.(wsIds);
    for (const wsId of wsIds) {
      this.#tails.delete(wsId);
      for (const reader of this.#followers.get(wsId)?.keys() ?? []) reader.resume();
    }
  }

  /** Of a log that nobody reads here, only its end is kept. */
  #grow(wsId: string, events: readonly StoredEvent[]): void {
    const end = events.at(-1)?.offset ?? 0;
    const isNext = this.#store.noteGrowth?.(wsId, { from: events[0]?.offset ?? 0, end }) === true;
    const readers = this.#followers.get(wsId)?.keys();
    if (!isNext || readers === undefined) {
      this.#tails.delete(wsId);
      for (const reader of readers ?? []) reader.resume();
    } else this.#take(new Map([[wsId, events]]));
  }

  /** Called after each commit with the new events, before readers are woken. Must not throw. */
  onAppended(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Releases the tail of a workstream that was unloaded to make room. Its readers go on when it is loaded again. */
  release(wsId: string): void {
    this.#told.tell(() => ({ kind: 'released', wsId }));
    this.#tails.delete(wsId);
  }

  /** Ends the readers of an unloaded workstream and releases its tail. */
  end(wsId: string): void {
    this.#told.tell(() => ({ kind: 'ended', wsId }));
    this.#ends.add(wsId);
    this.endFor(wsId, EVERYONE);
    this.#tails.delete(wsId);
  }

  /** A new workstream gets this id. Readers of a deleted one with the id must not get its events. */
  begin(wsId: string): void {
    this.end(wsId);
    this.#store.beginLog(wsId);
  }

  /** Ends the readers of those who no longer perceive a workstream. */
  endFor(wsId: string, { includes, terms }: Audience): void {
    this.#told.tell(() => ({ kind: 'left', wsId, terms }));
    for (const [reader, { viewer, onEnd }] of [...(this.#followers.get(wsId) ?? [])]) {
      if (!includes(viewer)) continue;
      reader.close();
      onEnd?.();
    }
    this.release(wsId);
  }

  #take(appended: ReadonlyMap<string, readonly StoredEvent[]>): void {
    const gained = new Map<string, readonly LogEntry[]>();
    for (const [wsId, events] of appended) {
      const entries = events.map((event) => this.#toEntry(wsId, event));
      gained.set(wsId, entries);
      this.#tailOf(wsId).push(entries);
      for (const listener of this.#listeners) listener(wsId, entries);
    }
    for (const [wsId, entries] of gained) {
      const isMuch = entries.length > LAG_EVENTS;
      for (const reader of this.#followers.get(wsId)?.keys() ?? []) {
        if (isMuch) reader.resume();
        else reader.offer(entries);
      }
    }
    this.#onOffered();
  }

  #tailOf(wsId: string): Tail {
    const tail = this.#tails.get(wsId) ?? createTail();
    this.#tails.set(wsId, tail);
    return tail;
  }

  #toEntry(wsId: string, event: StoredEvent): LogEntry {
    return toLogEntry({ wsId, epoch: this.epoch }, event);
  }

  #fromTail(wsId: string, offset: number): readonly LogEntry[] | undefined {
    const held = this.#tails.get(wsId)?.after(offset);
    if (!held) return this.#store.bounds(wsId).last <= offset ? [] : undefined;
    if (held.length <= LAG_EVENTS) return held;
    return joinDeltas(held).map((event) => this.#toEntry(wsId, event));
  }

  async #fromStore(wsId: string, offset: number): Promise<readonly LogEntry[]> {
    const events = await this.#store.readEvents(wsId, offset, PAGE);
    return joinDeltas(events).map((event) => this.#toEntry(wsId, event));
  }
}

/** A reader of a log that can no longer be followed. */
export function endedReader(offset: number, onEnd: (() => void) | undefined): LogReader {
  onEnd?.();
  return { resume: () => undefined, close: () => undefined, offset };
}
