import type { UsageTotal } from '../../../protocol/methods/usage.ts';
import { moneyOf } from '../../../protocol/text/spending/spending-words.ts';
import { toTroubleLines } from '../cron/job-troubles.ts';
import { toScheduleLine } from '../cron/schedule-status.ts';
import { type Here, toLength } from '../local-time.ts';
import type { Style } from '../terminal/paint.ts';
import { toSafeText } from '../terminal/safe-text.ts';
import type { Sheet } from '../terminal/sheet.ts';
import { cutToRow } from '../terminal/wrap.ts';
import type { Top, TopRow } from './read-top.ts';

const WORDS: Record<TopRow['state'], { word: string; style: Style }> = {
  attention: { word: 'waits', style: 'yellow' },
  running: { word: 'runs', style: 'green' },
  thinking: { word: 'runs', style: 'green' },
  error: { word: 'failed', style: 'red' },
  idle: { word: 'idle', style: 'dim' },
};

const HEAD = ['STATE', 'NAME', 'TOKENS', 'COST', 'CONTEXT'];
const NAME_CHARS = 24;
/** Lines beside the rows of the table: the summary, the head, what is left out, and a blank one. */
const OTHER_LINES = 4;

/** A summary, one row per workstream, and the schedule, in at most about `maxRows` rows. */
export function toTopLines(
  top: Top,
  { paint, columns }: Sheet,
  { maxRows, here }: { maxRows: number; here: Here },
): string[] {
  const below = [
    ...(top.schedule.jobs === 0 ? [] : [`Schedule: ${toScheduleLine(top.schedule, here)}`]),
    ...toTroubleLines(top.schedule).map((line) => paint('red', toSafeText(line))),
  ];
  const room = Math.max(1, maxRows - OTHER_LINES - below.length);
  const shown = top.workstreams.slice(0, room);
  const left = top.workstreams.length - shown.length;
  const cells = shown.map(toCells);
  const widths = HEAD.map((name, n) => Math.max(name.length, ...cells.map((row) => row[n]?.length ?? 0)));
  const toRow = (row: readonly string[]) =>
    row.map((cell, n) => (n < 2 ? cell.padEnd(widths[n] ?? 0) : cell.padStart(widths[n] ?? 0))).join('  ');
  const rows = shown.map((row, n) => {
    const { style } = WORDS[row.state];
    const [state = '', ...rest] = cells[n] ?? [];
    return `${paint(style, toRow([state]))}${toRow(['', ...rest]).slice(widths[0])}  ${toDoing(row)}`.trimEnd();
  });
  return [
    paint('bold', toSummary(top)),
    paint('dim', `${toRow(HEAD)}  DOES`),
    ...rows,
    ...(left > 0 ? [paint('dim', `… and ${left} more`)] : []),
    ...below,
  ].map((line) => cutToRow(line, columns));
}

function toSummary({ version, uptimeSeconds, workstreams, today }: Top): string {
  const count = (word: string) => workstreams.filter(({ state }) => WORDS[state].word === word).length;
  const counts = `${count('runs')} run, ${count('waits')} wait, ${count('failed')} failed, ${count('idle')} idle`;
  const parts = [`Headgate ${version}`, counts, ...toToday(today), `up ${toLength(Math.round(uptimeSeconds) * 1_000)}`];
  return parts.join(' · ');
}

const toToday = (today: UsageTotal | undefined): string[] =>
  today === undefined
    ? []
    : [`today ${toShort(today.inputTokens + today.outputTokens)} tokens, ${moneyOf(today.costUsd)}`];

const toCells = ({ state, name, totalTokens, costUsd, contextRatio }: TopRow): string[] => [
  WORDS[state].word,
  [...toOneLine(name)].slice(0, NAME_CHARS).join(''),
  toShort(totalTokens),
  costUsd === undefined ? '–' : moneyOf(costUsd),
  `${Math.round(contextRatio * 100)} %`,
];

/** The call that runs or waits; otherwise what the conversation is about. */
const toDoing = ({ state, activity, title }: TopRow): string =>
  toOneLine(activity === '' ? (state === 'thinking' ? 'asks the model' : (title ?? '')) : activity);

const toOneLine = (text: string): string => toSafeText(text).replaceAll(/\s+/g, ' ');

const UNITS = [
  { least: 1_000_000, unit: 'M' },
  { least: 1_000, unit: 'k' },
];

/** `950`, `12k`, `3.4M`. */
function toShort(tokens: number): string {
  const step = UNITS.find(({ least }) => tokens >= least);
  if (step === undefined) return String(tokens);
  const size = tokens / step.least;
  return `${size.toFixed(size < 10 ? 1 : 0)}${step.unit}`;
}
