import { sql } from 'kysely';
import type { ReportGrouping, UsageReport, UsageReportRow } from '../../../protocol/methods/usage.ts';
import { toDay } from '../../day.ts';
import { sumOfUsage } from '../../usage-sum.ts';
import { userIdOf } from '../auth/lineage.ts';
import type { Store } from '../store/store.ts';
import { NOTHING, SUMS, type Sums, toTotal } from './usage-rows.ts';
import { usedDays } from './used-days.ts';

const WEEK_MS = 7 * 86_400_000;
const MOST_ROWS = 1_000;

/** What the report is about. Both hours count completely. */
interface UsageReportQuery {
  /** Default: seven days before `nowMs`. */
  sinceMs?: number | undefined;
  untilMs?: number | undefined;
  userId?: string | undefined;
  model?: string | undefined;
  groupBy: ReportGrouping;
}

interface ReportDeps {
  store: Pick<Store, 'db'>;
  users: { find(userId: string): { username: string } | undefined };
  clock: { now(): number };
}

/** Adds up usage for an administrator: of whom, and in which hours. */
export async function readUsageReport(query: UsageReportQuery, deps: ReportDeps): Promise<UsageReport> {
  const { groupBy } = query;
  const {
    rows: found,
    summary: { key: _, ...summary },
  } = await addUp(query, deps);
  const rows = groupBy === 'day' || groupBy === 'hour' ? found : found.sort(byKey);
  const shown = rows.slice(0, MOST_ROWS);
  return {
    summary,
    breakdown: groupBy === 'user' ? shown.map((row) => ({ ...row, ...named(row.key, deps.users) })) : shown,
    ...(rows.length > MOST_ROWS && { truncated: true }),
  };
}

async function addUp(
  query: UsageReportQuery,
  { store, clock }: ReportDeps,
): Promise<{ rows: UsageReportRow[]; summary: UsageReportRow }> {
  const { userId, groupBy, sinceMs = clock.now() - WEEK_MS, untilMs } = query;
  const ownerOf = await readOwners(store);
  const [from, to] = [toHour(sinceMs), untilMs === undefined ? undefined : toHour(untilMs)];
  const found = new Map<string, UsageReportRow>();
  let summary: UsageReportRow = { key: '', ...toReported(NOTHING) };
  for await (const day of usedDays(store.db, { from: from.day, to: to?.day })) {
    for (const row of await sumsOfDay(store.db, { ...query, day, from, to })) {
      if (userId !== undefined && ownerOf(row.principal ?? '') !== userId) continue;
      const sums = { key: keyOf(groupBy, row, ownerOf), ...toReported(row) };
      const known = found.get(sums.key);
      found.set(sums.key, known === undefined ? sums : sumOf(known, sums));
      summary = sumOf(summary, sums);
    }
  }
  return { rows: [...found.values()], summary };
}

const byKey = (one: UsageReportRow, other: UsageReportRow): number => (one.key < other.key ? -1 : 1);

interface DayQuery extends UsageReportQuery {
  day: string;
  from: Hour;
  to: Hour | undefined;
}

/** With the latest hour first. */
function sumsOfDay(
  db: Store['db'],
  { day, from, to, model, userId, groupBy }: DayQuery,
): Promise<(Found & Sums & { tool_calls: number })[]> {
  let chosen = db.selectFrom('usage').where('day', '=', day);
  if (day === from.day) chosen = chosen.where('hour', '>=', from.hour);
  if (day === to?.day) chosen = chosen.where('hour', '<=', to.hour);
  if (model !== undefined) chosen = chosen.where('model', '=', model);
  const columns: Column[] = [...GROUPS[groupBy], ...(userId === undefined ? [] : (['principal'] as const))];
  const sums = chosen
    .select([...SUMS, TOOL_CALLS])
    .select(columns)
    .groupBy(columns);
  return (columns.includes('hour') ? sums.orderBy('hour', 'desc') : sums).execute();
}

const TOOL_CALLS = sql<number>`coalesce(sum(tool_calls), 0)`.as('tool_calls');

type Column = 'day' | 'hour' | 'model' | 'principal';

const GROUPS: Record<ReportGrouping, Column[]> = {
  day: ['day'],
  hour: ['day', 'hour'],
  model: ['model'],
  user: ['principal'],
};

interface Hour {
  day: string;
  hour: number;
}

function toHour(ms: number): Hour {
  const at = Math.min(Math.max(ms, 0), MOST_MS);
  return { day: toDay(at), hour: new Date(at).getUTCHours() };
}

/** The end of the year 9999, beyond which days no longer sort as texts. */
const MOST_MS = Date.UTC(9999, 11, 31, 23);

type Found = Partial<Record<'day' | 'model' | 'principal', string>> & { hour?: number };

function keyOf(groupBy: ReportGrouping, row: Found, ownerOf: (principal: string) => string): string {
  switch (groupBy) {
    case 'day':
      return row.day ?? '';
    case 'hour':
      return `${row.day}T${String(row.hour).padStart(2, '0')}`;
    case 'model':
      return row.model ?? '';
    case 'user':
      return ownerOf(row.principal ?? '');
  }
}

const toReported = (sums: Sums & { tool_calls?: number }) => ({ ...toTotal(sums), toolCalls: sums.tool_calls ?? 0 });

const sumOf = (one: UsageReportRow, other: UsageReportRow): UsageReportRow => ({
  ...sumOfUsage(one, other),
  key: one.key,
  toolCalls: one.toolCalls + other.toolCalls,
});

function named(userId: string, users: ReportDeps['users']): { username?: string } {
  const username = users.find(userId)?.username;
  return username === undefined ? {} : { username };
}

/** Finds the user that a principal acted for, also of revoked tokens; others stand for themselves. */
async function readOwners({ db }: Pick<Store, 'db'>): Promise<(principal: string) => string> {
  const rows = await db.selectFrom('api_tokens').select(['token_id', 'parent_kind', 'parent_id']).execute();
  const parents = new Map(rows.map((row) => [`token:${row.token_id}`, row]));
  const ownerOf = (principal: string): string => {
    const parent = parents.get(principal);
    if (parent === undefined || parent.parent_kind === 'operator') return userIdOf(principal) ?? principal;
    return parent.parent_kind === 'user' ? parent.parent_id : above(principal, `token:${parent.parent_id}`);
  };
  /** The user above, or the token itself below the operator. */
  const above = (principal: string, parent: string): string => {
    const owner = ownerOf(parent);
    return parents.has(owner) || owner === parent ? principal : owner;
  };
  return ownerOf;
}
