import { type DestinationStream, destination, pino } from 'pino';
import type { Log, LogLevel } from './log.ts';
import type { LogRing } from './log-ring.ts';

interface LogOptions {
  level: LogLevel;
  /** Default: stderr. */
  to?: DestinationStream;
  /** One short line per entry for people; otherwise JSON. */
  readable: boolean;
  /** Also receives every entry, as JSON. */
  ring?: Pick<LogRing, 'add'>;
}

const SECRETS = ['token', 'jwt', 'key', 'apiKey', 'password', 'secret', 'authorization', 'cookie'];
const HIDDEN_DEPTHS = ['', '*.', '*.*.'];

/** Writes synchronously, because the last entries before a crash matter most. */
export function createLog({ level, to = stderr(), readable, ring }: LogOptions): Log & { level: string } {
  const redact = HIDDEN_DEPTHS.flatMap((prefix) => SECRETS.map((name) => `${prefix}${name}`));
  const options = { level, base: null, redact, serializers: { err: toPlainError } };
  const write = (line: string) => {
    to.write(readable ? toReadableLine(line) : line);
    ring?.add(line);
  };
  const log = pino(options, { write });
  // A getter, because the level can change.
  return Object.defineProperty(log, 'isDebugging', { get: () => log.isLevelEnabled('debug') });
}

/** Entries wait in memory while stderr cannot be written, as when it is a file of a full disk. Later ones are dropped. */
const MAX_WAITING_CHARS = 1_048_576;

/** A closed terminal must not end the daemon. */
function stderr(): DestinationStream {
  const stream = destination({ dest: 2, sync: true, maxLength: MAX_WAITING_CHARS });
  stream.on('error', () => undefined);
  return stream;
}

/** Keeps only what locates the failure: errors of providers contain whole requests and their headers. */
function toPlainError(error: unknown): unknown {
  if (!(error instanceof Error)) return typeof error === 'string' ? error : typeof error;
  return {
    type: error.name,
    message: error.message,
    ...('code' in error && { code: error.code }),
    stack: error.stack,
    ...(error.cause !== undefined && { cause: toPlainError(error.cause) }),
  };
}

const LEVELS: Record<number, string> = { 20: 'debug', 30: 'info', 40: 'warn', 50: 'error', 60: 'fatal' };

function toReadableLine(line: string): string {
  const { level, time, msg, err, ...fields } = JSON.parse(line) as Record<string, unknown>; // a line that pino wrote
  const clock = new Date(Number(time)).toTimeString().slice(0, 8);
  const rest = Object.keys(fields).length === 0 ? '' : ` ${JSON.stringify(fields)}`;
  return `${clock} ${(LEVELS[Number(level)] ?? '').padEnd(5)} ${msg}${rest}${toErrorLines(err)}\n`;
}

function toErrorLines(error: unknown): string {
  if (typeof error !== 'object' || error === null) return error === undefined ? '' : ` (${error})`;
  const { stack, message, cause } = error as { stack?: string; message?: string; cause?: unknown }; // see toPlainError
  return `\n  ${(stack ?? message ?? '').replaceAll('\n', '\n  ')}${cause === undefined ? '' : `\n  cause:${toErrorLines(cause)}`}`;
}
