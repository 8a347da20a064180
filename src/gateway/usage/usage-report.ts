import { sql } from 'kysely';
import type { ReportGrouping, UsageReport, UsageReportRow } from '../../../protocol/methods/usage.ts';
import { toDay } from '../../day.ts';
import { sumOfUsage } from '../../usage-sum.ts';
import { userIdOf } from '../auth/lineage.ts';
import type { Store } from '../store/store.ts';
import { SUMS, type Sums, toTotal } from './usage-rows.ts';

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
export async function readUsageReport(
  { sinceMs, untilMs, userId, model, groupBy }: UsageReportQuery,
  { store, users, clock }: ReportDeps,
): Promise<UsageReport> {
  const ownerOf = await readOwners(store);
  let chosen = store.db.selectFrom('usage');
  const from = toHour(sinceMs ?? clock.now() - WEEK_MS);
  chosen = chosen.where((eb) =>
    eb.and([eb('day', '>=', from.day), eb.or([eb('day', '>', from.day), eb('hour', '>=', from.hour)])]),
  );
  if (untilMs !== undefined) {
    const to = toHour(untilMs);
    chosen = chosen.where((eb) =>
      eb.and([eb('day', '<=', to.day), eb.or([eb('day', '<', to.day), eb('hour', '<=', to.hour)])]),
    );
  }
  if (model !== undefined) chosen = chosen.where('model', '=', model);
  if (userId !== undefined) {
    const principals = await chosen.select('principal').distinct().execute();
    const own = principals.map(({ principal }) => principal).filter((principal) => ownerOf(principal) === userId);
    chosen = chosen.where('principal', 'in', own);
  }
  const sums = [...SUMS, sql<number>`coalesce(sum(tool_calls), 0)`.as('tool_calls')] as const;
  const summary = toReported(await chosen.select(sums).executeTakeFirstOrThrow());
  const columns = GROUPS[groupBy];
  let grouped = chosen.select(sums).select(columns).groupBy(columns);
  for (const column of columns)
    grouped = grouped.orderBy(column, groupBy === 'model' || groupBy === 'user' ? 'asc' : 'desc');
  const found = await grouped
    .limit(groupBy === 'user' ? 100_000 : MOST_ROWS + 1) // several principals may be one user
    .execute();
  const rows = merged(found.map((row) => ({ key: keyOf(groupBy, row, ownerOf), ...toReported(row) })));
  const isLong = rows.length > MOST_ROWS;
  return {
    summary,
    breakdown: rows.slice(0, MOST_ROWS).map((row) => ({ ...row, ...(groupBy === 'user' && named(row.key, users)) })),
    ...(isLong && { truncated: true }),
  };
}

type Column = 'day' | 'hour' | 'model' | 'principal';

const GROUPS: Record<ReportGrouping, Column[]> = {
  day: ['day'],
  hour: ['day', 'hour'],
  model: ['model'],
  user: ['principal'],
};

function toHour(ms: number): { day: string; hour: number } {
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

const toReported = (sums: Sums & { tool_calls: number }) => ({ ...toTotal(sums), toolCalls: sums.tool_calls });

/** Rows of one key as one, in the order of the first ones. */
function merged(rows: readonly UsageReportRow[]): UsageReportRow[] {
  const byKey = new Map<string, UsageReportRow>();
  for (const row of rows) {
    const known = byKey.get(row.key);
    byKey.set(row.key, known === undefined ? row : sumOf(known, row));
  }
  return [...byKey.values()];
}

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
