import type { Clock } from '../../clock.ts';
import { createEventRows, type EventRows } from './compaction/event-rows.ts';
import { createGroupLog, type GroupLog } from './group-log.ts';
import type { LogHeads } from './log-heads.ts';
import { type Connection, pageBytesOf } from './sqlite/sqlite-connection.ts';
import { faultOf } from './sqlite/sqlite-errors.ts';
import { type Statement, type StoredEvent, type Unit, UnitRefused } from './store.ts';
import { notesOf } from './unit-notes.ts';

/** The result of one unit: the offset of its last event, or why nothing was written. */
export type UnitOutcome = { kind: 'done'; offset: number } | { kind: 'refused'; error: Error };

/** The result of a committed group: an outcome per unit, in order, and the new events of each log. */
export interface GroupResult {
  outcomes: UnitOutcome[];
  appended: Map<string, StoredEvent[]>;
  /** An estimate of the bytes written to the write-ahead log; 0 if nothing changed. */
  walBytes: number;
  /** All units that changed something may wait until they are moved. */
  mayWait: boolean;
}

/** Writes a group in one transaction. Throws, with nothing written, when it could not be committed. */
export type GroupWriter = (units: readonly Unit[]) => GroupResult;

/** The only code that opens a transaction after the start. It never leaves one open. */
export function createGroupWriter(deps: {
  connection: Connection;
  heads: LogHeads;
  clock: Clock;
  durability: 'normal' | 'full';
}): GroupWriter {
  const { connection, heads } = deps;
  const rows = createEventRows(connection);
  const pageBytes = pageBytesOf(connection);
  const writeAll = (units: readonly Unit[]): GroupResult => {
    try {
      connection.run('begin immediate');
      const result = writeUnits(connection, { units, heads, rows, pageBytes, nowMs: deps.clock.now() });
      connection.run('commit');
      for (const [wsId, events] of result.appended) heads.advance(wsId, events.at(-1)?.offset ?? 0);
      return result;
    } catch (error) {
      if (connection.database.isTransaction) connection.run('rollback');
      heads.forget();
      rows.forget();
      throw error;
    }
  };
  const writeDurably = (units: readonly Unit[]): GroupResult => {
    if (deps.durability === 'full' || !units.some((unit) => unit.durable)) return writeAll(units);
    connection.run('pragma synchronous = full'); // cannot be changed inside a transaction
    try {
      return writeAll(units);
    } finally {
      connection.run('pragma synchronous = normal');
    }
  };
  return (units) => {
    if (!units.some((unit) => unit.erases)) return writeDurably(units);
    connection.all('pragma secure_delete = on');
    try {
      return writeDurably(units);
    } finally {
      connection.all('pragma secure_delete = off');
    }
  };
}

interface GroupPlace {
  units: readonly Unit[];
  heads: LogHeads;
  rows: EventRows;
  pageBytes: number;
  nowMs: number;
}

function writeUnits(connection: Connection, { units, heads, rows, pageBytes, nowMs }: GroupPlace): GroupResult {
  const log = createGroupLog((wsId) => heads.bounds(wsId).last);
  const changing: Unit[] = [];
  const outcomes = units.map((unit): UnitOutcome => {
    const written = writeUnit(connection, unit, log);
    if (written.kind === 'refused') return written;
    if (written.changes) changing.push(unit);
    if (unit.events)
      for (const note of notesOf(unit.events, { ...written, nowMs })) connection.run(note.sql, note.parameters);
    return { kind: 'done', offset: written.offsets.at(-1) ?? 0 };
  });
  const appended = log.appended();
  let walBytes = changing.length === 0 ? 0 : pageBytes * (2 + changing.length);
  for (const [wsId, events] of appended) {
    for (const event of events) {
      rows.write(wsId, event, nowMs);
      walBytes += event.json.length + EVENT_OVERHEAD_BYTES;
    }
  }
  return { outcomes, appended, walBytes, mayWait: changing.every((unit) => unit.mayWait === true) };
}

/** The offsets of the unit's events, and whether the file changes; deleting what does not exist changes nothing. */
type WrittenUnit =
  | { kind: 'done'; offsets: readonly number[]; changes: boolean }
  | Extract<UnitOutcome, { kind: 'refused' }>;

/**
 * Writes a unit in its own savepoint, so that its failure does not affect other units. A full disk affects all of them
 * and is thrown.
 */
function writeUnit(connection: Connection, unit: Unit, log: GroupLog): WrittenUnit {
  const { statements = [] } = unit;
  if (statements.length > 0) connection.run('savepoint unit');
  try {
    const append = log.prepare(unit);
    const changed = runStatements(connection, statements);
    if (statements.length > 0) connection.run('release unit');
    const hasEvents = unit.events !== undefined || unit.elsewhere !== undefined;
    return { kind: 'done', offsets: append(), changes: changed > 0 || hasEvents };
  } catch (error) {
    const fault = error instanceof UnitRefused ? 'taken' : faultOf(error);
    if (fault !== 'taken' && fault !== 'other') throw error;
    if (statements.length > 0) {
      connection.run('rollback to unit');
      connection.run('release unit');
    }
    return { kind: 'refused', error: toUnitError(error) };
  }
}

/** Returns how many rows changed. */
const runStatements = (connection: Connection, statements: readonly Statement[]): number =>
  statements.reduce((changed, statement) => changed + runStatement(connection, statement), 0);

function runStatement(connection: Connection, statement: Statement): number {
  const { sql, expect, tag } = statement;
  const changed = changedBy(connection, statement);
  if (expect !== undefined && changed !== expect) {
    throw new UnitRefused(`changed ${changed} rows instead of ${expect}: ${sql}`, { why: 'rows', tag });
  }
  return changed;
}

const toUnitError = (error: unknown): Error =>
  error instanceof Error ? error : new Error('a unit failed', { cause: error });

/** Executes a statement. A key that is in use means a lost race, like a missed `expect`. */
function changedBy(connection: Connection, { sql, parameters, tag }: Statement): number {
  try {
    return connection.run(sql, parameters);
  } catch (error) {
    if (faultOf(error) !== 'taken') throw error;
    throw new UnitRefused('a key of the unit is in use', { why: 'key', tag, cause: error });
  }
}

const EVENT_OVERHEAD_BYTES = 64;
