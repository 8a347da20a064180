import { type ExpressionBuilder, sql } from 'kysely';
import type { AskedApproval, Decision } from '../../agent/run/journal.ts';
import { toDay } from '../../day.ts';
import type { Database } from '../store/schema/schema.ts';
import { build, statementOf } from '../store/statements.ts';
import type { Statement, Store } from '../store/store.ts';
import { inHosted } from '../workers/elsewhere.ts';
import type { BudgetKey, BudgetLimit } from './budget-key.ts';
import { type LimitOnly, type Line, toLimit, toMicro } from './budget-lines.ts';

/** What a person adds to a budget by a decision, for the unit that stores the decision. */
export function grantsOf(
  { approvalId, budget }: AskedApproval,
  { approved, by }: Decision,
  nowMs: number,
): Statement[] {
  if (!approved || !budget) return [];
  const { of, key, unit, more } = budget;
  const row = {
    approval_id: approvalId,
    scope: of,
    key,
    day: of === 'run' || of === 'workstream' ? '' : (budget.day ?? toDay(nowMs)),
    tokens: unit === 'tokens' ? more : 0,
    micro_usd: unit === 'usd' ? Math.round(more * 1_000_000) : 0,
    granted_by: by.kind === 'principal' ? by.id : by.kind,
    at_ms: nowMs,
  };
  return [statementOf(build.insertInto('budget_grants').values(row), 1)];
}

/** Whether a limit is the absence of one. */
export const isNone = ({ tokens, usd }: BudgetLimit): boolean => tokens === undefined && usd === undefined;

/** Replaces the own budget of a workstream; without limits, removes it. */
export function storeBudget(wsId: string, limit: BudgetLimit): Statement {
  if (isNone(limit)) return statementOf(build.deleteFrom('workstream_budgets').where('ws_id', '=', wsId));
  const row = { tokens: limit.tokens ?? null, micro_usd: limit.usd === undefined ? null : toMicro(limit.usd) };
  const insert = build.insertInto('workstream_budgets').values({ ws_id: wsId, ...row });
  return statementOf(insert.onConflict((conflict) => conflict.column('ws_id').doUpdateSet(row)));
}

/** The own budget of a workstream as it is stored; without limits, it has none. */
export async function readOwnBudget({ db }: Pick<Store, 'db'>, wsId: string): Promise<BudgetLimit> {
  const row = await db.selectFrom('workstream_budgets').selectAll().where('ws_id', '=', wsId).executeTakeFirst();
  return row === undefined ? {} : toLimit(row.tokens, row.micro_usd);
}
/** The own budgets of the workstreams that this machine has; another one may change those of others. */
export const readOwn = (store: Pick<Store, 'db' | 'machine'>) =>
  store.db.selectFrom('workstream_budgets').selectAll().where(inHosted(store)).execute();

/** Tokens, and millionths of a US dollar. */
interface Amounts {
  tokens: number;
  micro: number;
}

interface BudgetUse {
  spent: Amounts;
  /** How many calls used it. */
  turns: number;
  more: Amounts;
}

/** A limit, with what was used of it and what persons added to it. */
export async function readLine(store: Pick<Store, 'db'>, line: LimitOnly): Promise<Line> {
  const { spent, turns, more } = await readBudget(store, line);
  const field = line.unit === 'tokens' ? 'tokens' : 'micro';
  const usual = turns === 0 ? 0 : spent[field] / turns;
  return { ...line, limit: line.limit + more[field], spent: spent[field], usual };
}

async function readBudget({ db }: Pick<Store, 'db'>, budget: BudgetKey): Promise<BudgetUse> {
  const spent = await db
    .selectFrom('usage')
    .select([
      sql<number>`coalesce(sum(input + output), 0)`.as('tokens'),
      sql<number>`coalesce(sum(micro_cost), 0)`.as('micro'),
      sql<number>`coalesce(sum(turns), 0)`.as('turns'),
    ])
    .where((where) => ownedBy(where, budget))
    .executeTakeFirstOrThrow();
  const more = await db
    .selectFrom('budget_grants')
    .select([sql<number>`coalesce(sum(tokens), 0)`.as('tokens'), sql<number>`coalesce(sum(micro_usd), 0)`.as('micro')])
    .where('scope', '=', budget.of)
    .where('key', '=', budget.key)
    .where('day', '=', budget.day)
    .executeTakeFirstOrThrow();
  return { spent, turns: spent.turns, more };
}

function ownedBy(where: ExpressionBuilder<Database, 'usage'>, { of, key, day }: BudgetKey) {
  switch (of) {
    case 'run':
      return where('run_id', '=', key);
    case 'workstream':
      return where('ws_id', '=', key);
    case 'principal':
      return where.and([where('day', '=', day), where('principal', '=', key)]);
    case 'model':
      return where.and([where('day', '=', day), where('model', '=', key)]);
    case 'day':
      return where('day', '=', day);
  }
}
