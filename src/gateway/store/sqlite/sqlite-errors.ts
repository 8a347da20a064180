import { DamagedRow } from '../row-checksum.ts';

/** The consequence of a SQLite error for its unit or group. */
export type SqliteFault = 'taken' | 'damaged' | 'locked' | 'disk' | 'other';

/**
 * `taken`: a unique key is in use. `disk`: nothing can be written at the moment. `other`: the statement itself is
 * wrong.
 */
export function faultOf(error: unknown): SqliteFault {
  if (error instanceof DamagedRow || isBeyondNumbers(error)) return 'damaged';
  const code = sqliteCodeOf(error);
  if (code === undefined) return 'other';
  if (UNIQUE.has(code)) return 'taken';
  return FAULTS.get(code & 0xff) ?? 'other';
}

/** A stored integer beyond the range of numbers; the daemon writes none. */
const isBeyondNumbers = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ERR_OUT_OF_RANGE';

function sqliteCodeOf(error: unknown): number | undefined {
  if (!(error instanceof Error && 'errcode' in error)) return undefined;
  return typeof error.errcode === 'number' ? error.errcode : undefined;
}

/** SQLITE_CONSTRAINT_UNIQUE, _PRIMARYKEY and _ROWID. */
const UNIQUE = new Set([2067, 1555, 2579]);

const FAULTS = new Map<number, SqliteFault>([
  [3, 'disk'], // PERM
  [5, 'locked'], // BUSY
  [6, 'locked'], // LOCKED
  [7, 'disk'], // NOMEM
  [8, 'disk'], // READONLY
  [10, 'disk'], // IOERR
  [11, 'damaged'], // CORRUPT
  [13, 'disk'], // FULL
  [14, 'disk'], // CANTOPEN
  [15, 'locked'], // PROTOCOL
  [26, 'damaged'], // NOTADB
]);
