/** There is no connection to the database, so that nothing was sent to it. */
export class NotConnected extends Error {
  override readonly name = 'NotConnected';
}

/** The consequence of a PostgreSQL error for its unit or group. */
export type PostgresFault = 'taken' | 'lost' | 'unwritable' | 'damaged' | 'other';

/**
 * `taken`: a unique key is in use. `lost`: the connection ended or cannot be made. `unwritable`: the server cannot write at
 * the moment. `other`: the statement itself is wrong.
 */
export function postgresFaultOf(error: unknown): PostgresFault {
  if (error instanceof NotConnected) return 'lost';
  const state = stateOf(error);
  if (state === undefined) return isOfConnection(error) ? 'lost' : 'other';
  if (state === UNIQUE_VIOLATION) return 'taken';
  return FAULTS.find(([beginning]) => state.startsWith(beginning))?.[1] ?? 'other';
}

/** The SQLSTATE of a server's answer. */
function stateOf(error: unknown): string | undefined {
  if (!(error instanceof Error && 'code' in error && 'severity' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

/** The error of a socket, a lookup or a certificate has a code; the driver's own errors have only a message. */
function isOfConnection(error: unknown): boolean {
  if (!(error instanceof Error) || error instanceof TypeError || error instanceof RangeError) return false;
  return ('code' in error && typeof error.code === 'string') || OF_CONNECTION.test(error.message);
}

/** How the messages of the driver begin (pg 8). */
const OF_CONNECTION = new RegExp(
  `^(?:${[
    ...['Connection terminated', 'Client has encountered a connection error', 'Client was closed', 'Cannot use a pool'],
    ...['Query read timeout', 'timeout exceeded', 'timeout expired', 'Received unexpected', 'SASL'],
    ...['The server does not support SSL', 'There was an error establishing an SSL connection'],
  ].join('|')})`,
);

/** A statement of a transaction that an earlier statement has ended. */
export const isAfterFailure = (error: unknown): boolean => stateOf(error) === '25P02';

/** The server, the database or the role allows no more connections. */
export const isTooManyConnections = (error: unknown): boolean => stateOf(error) === '53300';

/** A host with several addresses fails with one error for each of them. */
export function messageOf(error: unknown): string {
  if (error instanceof AggregateError) return [...new Set(error.errors.map(messageOf))].join('; ');
  return error instanceof Error ? error.message : String(error);
}

const UNIQUE_VIOLATION = '23505';

const FAULTS: readonly (readonly [beginning: string, PostgresFault])[] = [
  ['08', 'lost'], // connection exceptions
  ['28', 'lost'], // the login is refused
  ['3D000', 'lost'], // the database does not exist
  ['57P', 'lost'], // shut down, crashed, starting
  ['53', 'unwritable'], // disk full, out of memory, too many connections
  ['58', 'unwritable'], // input and output errors
  ['25006', 'unwritable'], // a standby, or a database that only reads
  ['25P03', 'lost'], // a transaction was idle for too long, as after a pause, which ends the session
  ['25P04', 'lost'], // a transaction took too long, which does, too
  ['40', 'unwritable'], // a deadlock or a conflict with another writer
  ['55P03', 'unwritable'], // a lock of another session
  ['57014', 'unwritable'], // a statement took too long, or was cancelled
  ['XX', 'damaged'], // data corrupted, or an internal error
];
