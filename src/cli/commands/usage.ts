import type { UsageGrouping, UsageRow, UsageTotal } from '../../../protocol/methods/usage.ts';
import { moneyOf } from '../../../protocol/text/spending/spending-words.ts';
import { systemClock } from '../../clock.ts';
import { toDay } from '../../day.ts';
import type { Surroundings } from '../../home/home-path.ts';
import { UsageError } from '../../start-error.ts';
import { sumOfUsage } from '../../usage-sum.ts';
import { readVersion } from '../../version.ts';
import { resolveTarget, type TargetFlags, withClient } from '../connect.ts';
import { toSafeText } from '../terminal/safe-text.ts';
import { toTextTable } from '../text-table.ts';
import { readUserNames } from './accounts/user-names.ts';

export interface UsageFlags extends TargetFlags {
  by: UsageGrouping;
  days: string;
  json?: boolean | undefined;
}

interface UsageOptions {
  flags: UsageFlags;
  around: Surroundings;
  root: URL;
}

const DAY_MS = 86_400_000;

/** Prints the tokens and the money of the last days. */
export async function usage({ flags, around, root }: UsageOptions): Promise<void> {
  const from = toFirstDay(flags.days, systemClock.now());
  const caller = { target: await resolveTarget(flags, around), version: await readVersion(root) };
  const found = await withClient(caller, async (client) => {
    const listed = await client.call('usage.get', { by: flags.by, from });
    if (flags.json || flags.by !== 'principal') return listed;
    const nameOf = await readUserNames(
      client,
      listed.rows.map(({ key }) => key),
    );
    return { ...listed, rows: listed.rows.map((row) => ({ ...row, key: nameOf(row.key) })) };
  });
  const text =
    flags.json === true ? JSON.stringify({ from, ...found }, null, 2) : toUsageLines(found, flags.by).join('\n');
  process.stdout.write(`${text}\n`);
}

function toFirstDay(days: string, nowMs: number): string {
  if (!/^[1-9]\d{0,3}$/.test(days)) throw new UsageError(`--days must be a number from 1 to 9999, not "${days}".`);
  return toDay(nowMs - (Number(days) - 1) * DAY_MS);
}

interface Found {
  rows: readonly UsageRow[];
  total?: UsageTotal | undefined;
  truncated?: true | undefined;
}

/** A table of the rows and the sum of all. */
export function toUsageLines({ rows, truncated, ...found }: Found, by: UsageGrouping): string[] {
  if (rows.length === 0) return ['No model has been used in this time.'];
  const totals: readonly UsageTotal[] = rows;
  const total = found.total ?? totals.reduce(sumOfUsage);
  const table = toTextTable([
    [by, 'turns', 'input', 'cached', 'output', 'reasoning', 'US$'],
    ...rows.map((row) => toCells(row, toSafeText(row.key))),
    ...(rows.length > 1 || truncated ? [toCells(total, 'all')] : []),
  ]);
  const lines = table.trimEnd().split('\n');
  if (truncated) lines.push('', `Only the latest ${toCount(rows.length)} are shown; "all" has the others, too.`);
  if (total.unpricedTokens === 0) return lines;
  return [
    ...lines,
    '',
    `${toCount(total.unpricedTokens)} tokens are not in the sum: set models.<alias>.price in config.json.`,
  ];
}

const toCount = (count: number): string => count.toLocaleString('en-US');

const toCells = (row: UsageTotal, key: string): string[] => [
  key,
  ...[row.turns, row.inputTokens, row.cacheReadTokens, row.outputTokens, row.reasoningTokens].map(toCount),
  moneyOf(row.costUsd).replace('$', ''),
];
