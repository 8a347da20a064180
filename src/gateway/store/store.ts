import type { Kysely } from 'kysely';
import type { StreamEvent } from '../../../protocol/stream-events.ts';
import type { Database } from './schema/schema.ts';

/** One SQL statement of a unit, as kysely compiles it. */
export interface Statement {
  sql: string;
  parameters: readonly unknown[];
  /** Rows it has to change; otherwise the whole unit is refused (a fence, a lost race) and leaves nothing behind. */
  expect?: number;
  /** Names the statement for whoever has to know that this one was refused. */
  tag?: string;
}

/**
 * Writes that take effect together or not at all. Units of one event-loop turn share a transaction; a refused or
 * broken unit does not touch its neighbours.
 */
export interface Unit {
  statements?: readonly Statement[];
  /** Appended to the workstream's log in this order; offsets are given at commit, dense per workstream. */
  events?: UnitEvents;
  /** Must precede an effect outside (a decision, a started tool): the group is synced to disk before it resolves. */
  durable?: boolean;
}

interface UnitEvents {
  wsId: string;
  events: readonly StreamEvent[];
  /** What these tell is in the messages too: no notes are kept of them. */
  inMessages?: true;
}

/** One event as it stands in a log. */
export interface StoredEvent {
  offset: number;
  /** The event's JSON text, as it goes over every wire. */
  json: string;
  /** It only stands for events that are missing or altered. */
  isDamaged?: true;
}

/** Messages with `after` < seq ≤ `upTo`, the newest `limit` of them. */
export interface MessageRange {
  after: number;
  upTo: number;
  limit: number;
}

/** One message as it is stored; `json` is undefined where the database no longer holds what was written. */
export interface StoredRow {
  seq: number;
  runId: string | null;
  createdMs: number;
  json: string | undefined;
}

/** An expectation of a unit did not hold: someone else was there first. */
export class UnitRefused extends Error {
  override readonly name = 'UnitRefused';
  /** `rows`: a statement changed not as many as it had to; `key`: a key of it is in use. */
  readonly why: 'rows' | 'key';
  /** That of the refused statement, where it has one. */
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

/** False when the unit was refused: what it is about is not there, or somebody else was first. */
export async function tookEffect(committed: Promise<unknown>): Promise<boolean> {
  try {
    await committed;
    return true;
  } catch (error) {
    if (error instanceof UnitRefused) return false;
    throw error;
  }
}

/** `damaged`: some of what is stored cannot be read; without it, degraded means that nothing can be written. */
export interface StoreHealth {
  status: 'ok' | 'degraded';
  reason?: string;
  damaged?: boolean;
}

/** What the gateway needs of a database. Asynchronous, so that a server can stand behind it. */
export interface Store {
  /** For reads; every write goes through `commit`. What events and messages hold is read by the methods below, which check it. */
  readonly db: Kysely<Database>;
  /** Names the logs' identity: a cursor of another epoch cannot be continued. */
  readonly epoch: string;
  /**
   * Adds a unit to this turn's group. Resolves, after the commit, with the offset of the unit's last event (0 without
   * events). Rejects with UnitRefused, or GatewayError UNAVAILABLE while the disk takes no writes.
   */
  commit(unit: Unit): Promise<number>;
  /** Called once per committed group, after the commit and before its units resolve, with what each log gained. */
  onCommitted(listener: (appended: ReadonlyMap<string, readonly StoredEvent[]>) => void): void;
  /** The last offset of a log (0 when empty) and the first one still held (1 when nothing was pruned). */
  bounds(wsId: string): { first: number; last: number };
  /**
   * Stored events after an offset, oldest first, at most about `limit`; fewer when they are long, but at least one, if any
   * exist. An `error` event marked `damaged` stands for those that are missing or altered.
   */
  readEvents(wsId: string, after: number, limit: number): Promise<StoredEvent[]>;
  /** The offset of the newest event of this type, or of a damaged one behind it; 0 without either. */
  findNewestEvent(wsId: string, type: StreamEvent['type']): Promise<number>;
  /** Stored messages, oldest first, one for each number of the range. */
  readMessages(wsId: string, range: MessageRange): Promise<StoredRow[]>;
  health(): StoreHealth;
}
