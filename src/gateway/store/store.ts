import type { Kysely } from 'kysely';
import type { StreamEvent } from '../../../protocol/stream-events.ts';
import type { Database } from './schema/schema.ts';
import type { WordIndex } from './words/word-index.ts';

/** One SQL statement of a unit, as kysely compiles it. */
export interface Statement {
  sql: string;
  parameters: readonly unknown[];
  /**
   * How many rows it must change. Otherwise the whole unit is refused (a fence, a lost race) and nothing is written.
   */
  expect?: number;
  /** A name for callers that must know whether this statement was refused. */
  tag?: string;
  /** It depends on rows that other daemons add, too: one daemon at a time runs such statements. */
  inTurn?: true;
}

/**
 * Writes that take effect together or not at all. Units of one turn of the event loop share a transaction; a refused or
 * failed unit does not affect the others.
 */
export interface Unit {
  statements?: readonly Statement[];
  /** Appended to the workstream's log in this order. Offsets are assigned at commit, without gaps per workstream. */
  events?: UnitEvents;
  /** Appended to the logs of other workstreams, whose events tell of this unit. */
  elsewhere?: readonly UnitEvents[];
  /** An external effect follows (a decision, a started tool), so the group is synced to disk before it resolves. */
  durable?: boolean;
  /** A power loss may undo it, even if it was long ago. */
  mayWait?: boolean;
  /** What it deletes or replaces is overwritten in the database file, and not only marked as free. */
  erases?: boolean;
}

/** Events for the log of one workstream. */
export interface UnitEvents {
  wsId: string;
  events: readonly StreamEvent[];
  /** The messages have the same content, so no notes are stored. */
  inMessages?: true;
}

/** One event of a log. */
export interface StoredEvent {
  offset: number;
  /** The event's JSON text, as sent on every transport. */
  json: string;
  /** A placeholder for events that are missing or altered. */
  isDamaged?: true;
}

/** Messages with `after` < seq ≤ `upTo`, the newest `limit` of them. */
export interface MessageRange {
  after: number;
  upTo: number;
  limit: number;
}

/** One stored message; `json` is undefined when the stored text is damaged. */
export interface StoredRow {
  seq: number;
  runId: string | null;
  createdMs: number;
  json: string | undefined;
}

/** An expectation of a unit failed: another writer was first. */
export class UnitRefused extends Error {
  override readonly name = 'UnitRefused';
  /** `rows`: a statement changed an unexpected number of rows; `key`: a key is in use. */
  readonly why: 'rows' | 'key';
  /** The tag of the refused statement, if it has one. */
  readonly tag: string | undefined;

  constructor(
    message: string,
    { why, tag, cause }: { why: 'rows' | 'key'; tag?: string | undefined; cause?: unknown },
  ) {
    super(message, { cause });
    this.why = why;
    this.tag = tag;
  }
}

/** False when the unit was refused: its target does not exist, or another writer was first. */
export async function tookEffect(committed: Promise<unknown>): Promise<boolean> {
  try {
    await committed;
    return true;
  } catch (error) {
    if (error instanceof UnitRefused) return false;
    throw error;
  }
}

/** `damaged`: some stored data cannot be read. Without it, degraded means that nothing can be written. */
export interface StoreHealth {
  status: 'ok' | 'degraded';
  reason?: string;
  damaged?: boolean;
}

/** The database as the gateway uses it. Asynchronous, so that a server could implement it. */
export interface Store {
  /**
   * For reads; every write goes through `commit`. Read the contents of events and messages with the methods below,
   * which verify them.
   */
  readonly db: Kysely<Database>;
  /** How `db` is searched for words. */
  readonly words: WordIndex;
  /** The worker whose workstreams this daemon runs, as `workstreams.machine` names it; null: the active daemon. */
  readonly machine: string | null;
  /** Identifies the logs: cursors of another epoch cannot be continued. */
  readonly epoch: string;
  /**
   * Adds a unit to this turn's group. Resolves after the commit with the offset of the unit's last event (0 without
   * events). Rejects with UnitRefused, or with GatewayError UNAVAILABLE while the disk cannot be written.
   */
  commit(unit: Unit): Promise<number>;
  /**
   * Calls back for each unit that is committed; the events that it returns are committed with it, for other logs. Call it
   * at most once. Must not throw.
   */
  onCommit(toElsewhere: (unit: Unit) => readonly UnitEvents[]): void;
  /** Removes former contents from the write-ahead log. False if that was not possible now; it happens later then. */
  emptyLog(): Promise<boolean>;
  /**
   * Called once per committed group, after the commit and before its units resolve, with the new events of each log.
   */
  onCommitted(listener: (appended: ReadonlyMap<string, readonly StoredEvent[]>) => void): void;
  /** Calls back after each commit with the names of the tables that it changed. Absent, like `noteGrowth`. */
  onTables?(listener: (tables: ReadonlySet<string>) => void): void;
  /** How many units wait for the end of this turn. */
  waiting(): number;
  /** Calls back after each attempt to write a group, with the time that it took. */
  onWritten(listener: (seconds: number) => void): void;
  /** Makes `bounds` know these logs. Call it when their workstreams are loaded. */
  openLogs(wsIds: readonly string[]): Promise<void>;
  /** A new workstream gets this id: its log is empty, whatever a deleted one with the id had. */
  beginLog(wsId: string): void;
  /**
   * The daemon that has a workstream has added events to its log. False if the end of the log was not known here, or events
   * before these are missing. Absent: no other daemon can use the store.
   */
  noteGrowth?(wsId: string, events: { from: number; end: number }): boolean;
  /** Reads again where these logs end, because another daemon has written them. Absent, like `noteGrowth`. */
  rereadLogs?(wsIds: readonly string[]): Promise<void>;
  /**
   * Another machine writes this log from now on: what would add to it here is refused with this error, until `takeLogs`. Absent,
   * like `noteGrowth`.
   */
  leaveLog?(wsId: string, refusal: Error): void;
  /** Like `openLogs`, for logs that this daemon writes from now on and another one may have written. Absent, like `noteGrowth`. */
  takeLogs?(wsIds: readonly string[]): Promise<void>;
  /** The last offset of an open log (0 when empty) and the first one still stored (1 when nothing was pruned). */
  bounds(wsId: string): { first: number; last: number };
  /**
   * Stored events after an offset, oldest first, about `limit` at most; fewer when they are long, but at least one, if
   * any exist. An `error` event marked `damaged` replaces missing or altered ones.
   */
  readEvents(wsId: string, after: number, limit: number): Promise<StoredEvent[]>;
  /**
   * The offset of the newest event of this type before the offset `before`, or of a damaged one after it; 0 if there is
   * neither.
   */
  findNewestEvent(wsId: string, type: StreamEvent['type'], before?: number): Promise<number>;
  /** Stored messages, oldest first, one for each number of the range. */
  readMessages(wsId: string, range: MessageRange): Promise<StoredRow[]>;
  /** Shows damage in a stored row that only its reader can detect, as `health` does for all other damage. */
  reportDamage(error: unknown): void;
  health(): StoreHealth;
}
