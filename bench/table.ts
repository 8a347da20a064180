import { readFile } from 'node:fs/promises';
import process from 'node:process';
import type { Machine } from './machine.ts';
import { type Comparison, medianOf, type RowResult, type Target } from './row.ts';

/** The content of the file that a run of the benchmark writes. */
export interface Report {
  date: string;
  commit: string;
  machine: Machine;
  /** Measured with less load and fewer rounds. */
  quick: boolean;
  rows: RowResult[];
}

/** The rows as text for a terminal. */
export function toText({ rows }: Report): string {
  const cells = [HEAD, ...rows.map(toCells)];
  const widths = HEAD.map((_, column) => Math.max(...cells.map((line) => line[column]?.length ?? 0)));
  return cells
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** The rows as Markdown, with the machine. */
export function toMarkdown(report: Report): string {
  const { date, commit, machine, rows } = report;
  const lines = [HEAD, HEAD.map(() => '---'), ...rows.map(toCells)].map((cells) => `| ${cells.join(' | ')} |`);
  const { cores, cpu, memoryGiB, kernel, node, loadBefore } = machine;
  const where = `${date.slice(0, 10)}, ${cores} cores of ${cpu}, ${memoryGiB} GiB, Linux ${kernel}, Node ${node}, commit ${commit}, load before the run ${loadBefore}`;
  return `${lines.join('\n')}\n\nMeasured ${where}. Median of the rounds, in brackets the lowest and the highest.`;
}

/** One row of a comparison of two builds. */
export function toChange({ name, now, before, change, lowest, highest, unit }: Comparison): string {
  const say = (value: number) => `${value.toFixed(value < 10 ? 2 : 1)} ${unit}`;
  const percent = (quotient: number) => `${quotient < 1 ? '' : '+'}${((quotient - 1) * 100).toFixed(1)} %`;
  return `${name.padEnd(17)} ${say(now)}, before ${say(before)}: ${percent(change)} (${percent(lowest)} to ${percent(highest)})`;
}

const HEAD = ['Name', 'What', 'Against', 'Aim', 'Reached', 'Met'];

export function toCells(row: RowResult): string[] {
  const { name, what, anchor, unit, target, reached, lowest, highest, met } = row;
  const say = (value: number) => sayValue(value, unit);
  const verdict = met === undefined ? '' : met ? 'yes' : 'no';
  const spread = `${say(reached)} (${say(lowest)} to ${say(highest)})`;
  return [name, what, anchor, `${sayTarget(target, unit)}${sayAims(row)}`, `${spread}${sayBeside(row)}`, verdict];
}

const sayValue = (value: number, unit: RowResult['unit']): string =>
  `${value.toFixed(value < 10 ? 2 : 1)}${unit === 'x' ? 'x' : ` ${unit}`}`;

const sayTarget = (target: Target | undefined, unit: RowResult['unit']): string =>
  target === undefined
    ? ''
    : 'atLeast' in target
      ? `≥ ${sayValue(target.atLeast, unit)}`
      : `≤ ${sayValue(target.atMost, unit)}`;

const sayAims = ({ beside = [] }: RowResult): string =>
  beside.map(({ label, unit, target }) => (target ? `; ${label} ${sayTarget(target, unit)}` : '')).join('');

const sayBeside = ({ beside = [], rounds }: RowResult): string =>
  beside.map(({ figure, label, unit }) => `; ${label} ${sayValue(medianOf(rounds, figure), unit)}`).join('');

if (import.meta.main) {
  const file = process.argv[2] ?? new URL('latest.json', import.meta.url);
  process.stdout.write(`${toMarkdown(JSON.parse(await readFile(file, 'utf8')))}\n`);
}
