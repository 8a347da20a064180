import type { LogLevel } from '../../log.ts';
import type { Paint, Style } from '../terminal/paint.ts';
import { toSafeText } from '../terminal/safe-text.ts';

/** The levels of the log, by the numbers that its lines have. */
const LEVELS: readonly { number: number; name: string; style: Style }[] = [
  { number: 20, name: 'debug', style: 'dim' },
  { number: 30, name: 'info', style: 'green' },
  { number: 40, name: 'warn', style: 'yellow' },
  { number: 50, name: 'error', style: 'red' },
  { number: 60, name: 'fatal', style: 'red' },
];

/** Whether a line of the log is at least as important as a level. A line that is no JSON is. */
export function isAtLeast(line: string, level: LogLevel): boolean {
  const least = LEVELS.find(({ name }) => name === level)?.number ?? 0;
  const number = read(line)?.level;
  return typeof number !== 'number' || number >= least;
}

/** A line of the log for people: the time in UTC, the level, the message and the other fields. */
export function toLogLine(line: string, paint: Paint): string {
  const entry = read(line);
  if (entry === undefined) return toOneLine(line);
  const { level, time, msg, ...fields } = entry;
  const known = LEVELS.find(({ number }) => number === level);
  const clock = typeof time === 'number' ? new Date(time).toISOString().slice(0, 19).replace('T', ' ') : '';
  const rest = Object.entries(fields).map(([name, value]) => ` ${name}=${toValue(value)}`);
  const name = (known?.name ?? String(level)).padEnd(5);
  return [
    paint('dim', clock),
    known === undefined ? name : paint(known.style, name),
    `${toOneLine(String(msg ?? ''))}${paint('dim', toOneLine(rest.join('')))}`,
  ].join(' ');
}

function read(line: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? { ...value } : undefined;
  } catch {
    return undefined; // for example, it was cut
  }
}

const toValue = (value: unknown): string =>
  typeof value === 'string' && /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value);

const toOneLine = (text: string): string => toSafeText(text).replaceAll('\n', ' ');
