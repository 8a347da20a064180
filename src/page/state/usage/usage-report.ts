import { type ReadonlySignal, signal } from '@preact/signals';
import type { UsageRow, UsageTotal } from '../../../../protocol/methods/usage.ts';
import type { BudgetState } from '../../../../protocol/run-outcome.ts';
import type { Desk } from '../app.ts';
import { type Reader, Reading } from '../reading/reading.ts';

/** What the page adds usage up by. The last two need the permission to see the usage of everybody. */
export type ReportGrouping = 'day' | 'model' | 'workstream' | 'hour' | 'user';
const OF_EVERYBODY = ['hour', 'user'] as const;

/** Whose usage is shown, and of which model; undefined: all. Needs the same permission. */
export interface ReportFilter {
  user?: { id: string; name: string };
  model?: string;
}

/** The groupings for a person. A filter knows nothing of workstreams. */
export const groupingsFor = (permissions: readonly string[], { user, model }: ReportFilter): ReportGrouping[] => [
  ...(['day', 'model'] as const),
  ...(user === undefined && model === undefined ? (['workstream'] as const) : []),
  ...(permissions.includes('admin.usage') ? OF_EVERYBODY : []),
];

/** What the bars show. */
export type ReportUnit = 'tokens' | 'usd';

/** How many days the report may have, with today. */
export const REPORT_DAYS = ['7', '30', '90'] as const;
export type ReportDays = (typeof REPORT_DAYS)[number];

const DAY_MS = 86_400_000;

export interface Report {
  by: ReportGrouping;
  rows: readonly UsageRow[];
  /** The names of users by the keys of their rows. */
  names: ReadonlyMap<string, string>;
  /** Of all rows, also of those that are not here; undefined from earlier daemons. */
  total: UsageTotal | undefined;
  truncated: boolean;
  budgets: readonly BudgetState[];
}

/** The usage of the last days. Nothing is read until it is shown. */
export class UsageReport {
  readonly #client: Reader;
  readonly reading: Reading;
  readonly #now: () => number;
  readonly #report = signal<Report | undefined>(undefined);
  readonly by = signal<ReportGrouping>('day');
  readonly days = signal<ReportDays>('30');
  readonly unit = signal<ReportUnit>('tokens');
  readonly filter = signal<ReportFilter>({});

  constructor({ client, now }: { client: Reader; now(): number }) {
    this.#client = client;
    this.reading = new Reading(client);
    this.#now = now;
  }

  /** Undefined until the first answer. */
  get report(): ReadonlySignal<Report | undefined> {
    return this.#report;
  }

  read(by: ReportGrouping = this.by.peek()): Promise<void> {
    this.by.value = by;
    const days = daysUntil(this.#now(), Number(this.days.peek()));
    return this.reading.read(
      () => Promise.all([this.#sums(by, days[0] ?? ''), this.#client.call('budget.list', {})]),
      ([{ rows, names, total, truncated = false }, { budgets }]) => {
        const shown = by === 'day' ? everyDay(rows, days) : rows;
        this.#report.value = { by, rows: shown, names: new Map(names), total, truncated, budgets };
      },
    );
  }

  /** Shows only what matches, by day. */
  async only(filter: ReportFilter): Promise<void> {
    this.filter.value = filter;
    await this.read('day');
  }

  /** `from`: the first day. */
  async #sums(by: ReportGrouping, from: string): Promise<Sums> {
    const { user, model } = this.filter.peek();
    const isOfAll = user === undefined && model === undefined;
    if (by === 'workstream' || (isOfAll && by !== 'hour' && by !== 'user'))
      return this.#client.call('usage.get', { by, from });
    const { summary, breakdown, truncated } = await this.#client.call('usage.report', {
      groupBy: by,
      sinceMs: Date.parse(from),
      ...(user && { userId: user.id }),
      ...(model !== undefined && { model }),
    });
    const names = breakdown.flatMap(({ key, username }) => (username === undefined ? [] : [[key, username] as const]));
    return { rows: breakdown, names, total: summary, ...(truncated && { truncated }) };
  }
}

const opened = new WeakMap<Desk, UsageReport>();

/** The report of a desk, made when it is first shown: its code is not loaded before. */
export function usageOf(desk: Desk): UsageReport {
  const report = opened.get(desk) ?? new UsageReport(desk);
  opened.set(desk, report);
  return report;
}

interface Sums {
  rows: UsageRow[];
  names?: (readonly [string, string])[];
  total?: UsageTotal | undefined;
  truncated?: true | undefined;
}

/** The days (UTC) of the report, the first one first. */
const daysUntil = (nowMs: number, count: number): string[] =>
  Array.from({ length: count }, (_, index) =>
    new Date(nowMs - (count - 1 - index) * DAY_MS).toISOString().slice(0, 10),
  );

const NOTHING = {
  turns: 0,
  inputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
  costUsd: 0,
  unpricedTokens: 0,
};

/** From the first day that was used until today, so that a gap is a gap. */
function everyDay(rows: readonly UsageRow[], days: readonly string[]): UsageRow[] {
  const known = new Map(rows.map((row) => [row.key, row]));
  const first = days.findIndex((day) => known.has(day));
  return first < 0 ? [] : days.slice(first).map((key) => known.get(key) ?? { ...NOTHING, key });
}

/** One bar: its parts in the unit, in the order in which they are drawn. */
export interface Bar {
  row: UsageRow;
  parts: readonly { kind: 'input' | 'cached' | 'output' | 'money'; amount: number }[];
}

/** The bars of a report, and the amount of the longest one (at least 1, so that it can divide). */
export function toBars(rows: readonly UsageRow[], unit: ReportUnit): { bars: Bar[]; longest: number } {
  const bars = rows.map((row): Bar => ({ row, parts: toParts(row, unit) }));
  const amounts = bars.map(({ parts }) => parts.reduce((sum, { amount }) => sum + amount, 0));
  return { bars, longest: Math.max(...amounts, 0) || 1 };
}

function toParts(row: UsageRow, unit: ReportUnit): Bar['parts'] {
  if (unit === 'usd') return [{ kind: 'money', amount: row.costUsd }];
  return [
    { kind: 'input', amount: Math.max(0, row.inputTokens - row.cacheReadTokens) },
    { kind: 'cached', amount: row.cacheReadTokens },
    { kind: 'output', amount: row.outputTokens },
  ];
}
