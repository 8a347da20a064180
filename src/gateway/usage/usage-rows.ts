import { sql } from 'kysely';
import type { UsageGrouping, UsageRow } from '../../../protocol/methods/usage.ts';
import type { Usage } from '../../agent/providers/model.ts';
import { microCostOf } from '../../agent/providers/prices/cost.ts';
import type { Spending } from '../../agent/run/spending.ts';
import { toDay } from '../../day.ts';
import type { RunRecord } from '../runs/run-record.ts';
import type { UsageTable } from '../store/schema/usage-schema.ts';
import type { Statement, Store } from '../store/store.ts';

/** Adds the tokens of a model turn to those of its run. Rows outlive their workstream, because the money is spent. */
export function addUsage(
  run: Pick<RunRecord, 'runId' | 'wsId' | 'principal'>,
  { usage, spent = usage, model, isEstimated }: Spending & { spent?: Usage; isEstimated?: true },
  nowMs: number,
): Statement {
  const tokens = spent.promptTokens + spent.completionTokens;
  const cost = model.price ? microCostOf(spent, model.price, usage.promptTokens) : null;
  return {
    sql: ADD_SQL,
    parameters: [
      run.runId,
      `${model.provider}/${model.modelId}`,
      toDay(nowMs),
      run.wsId,
      run.principal,
      spent.promptTokens,
      spent.cacheReadTokens,
      spent.cacheCreationTokens,
      spent.completionTokens,
      spent.reasoningTokens ?? 0,
      cost ?? 0,
      cost === null ? tokens : 0,
      isEstimated ? tokens : 0,
    ],
  };
}

const ADD_SQL = `INSERT INTO usage (run_id, model, day, ws_id, principal, turns, input, cache_read, cache_write, output,
    reasoning, micro_cost, unpriced, estimated)
  VALUES (?, ?, ?, ?, ?, 1, ?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (run_id, model, day) DO UPDATE SET turns = usage.turns + 1, input = usage.input + excluded.input,
    cache_read = usage.cache_read + excluded.cache_read, cache_write = usage.cache_write + excluded.cache_write,
    output = usage.output + excluded.output, reasoning = usage.reasoning + excluded.reasoning,
    micro_cost = usage.micro_cost + excluded.micro_cost, unpriced = usage.unpriced + excluded.unpriced,
    estimated = usage.estimated + excluded.estimated`;

/** Which rows to add up; days are inclusive. */
export interface UsageQuery {
  from?: string | undefined;
  to?: string | undefined;
  wsId?: string | undefined;
}

const COLUMNS = {
  day: 'day',
  model: 'model',
  principal: 'principal',
  workstream: 'ws_id',
  run: 'run_id',
} as const satisfies Record<UsageGrouping, keyof UsageTable>;

/** Adds up the tokens by one column, with the newest day or the greatest key first. */
export async function readUsage({ db }: Pick<Store, 'db'>, by: UsageGrouping, query: UsageQuery): Promise<UsageRow[]> {
  const { from, to, wsId } = query;
  const column = COLUMNS[by];
  let rows = db.selectFrom('usage');
  if (from !== undefined) rows = rows.where('day', '>=', from);
  if (to !== undefined) rows = rows.where('day', '<=', to);
  if (wsId !== undefined) rows = rows.where('ws_id', '=', wsId);
  const found = await rows
    .select((eb) => [
      eb.ref(column).as('key'),
      eb.fn.sum<number>('turns').as('turns'),
      eb.fn.sum<number>('input').as('input'),
      eb.fn.sum<number>('cache_read').as('cacheRead'),
      eb.fn.sum<number>('cache_write').as('cacheWrite'),
      eb.fn.sum<number>('output').as('output'),
      eb.fn.sum<number>('reasoning').as('reasoning'),
      eb.fn.sum<number>('micro_cost').as('microCost'),
      eb.fn.sum<number>('unpriced').as('unpriced'),
      eb.fn.sum<number>('estimated').as('estimated'),
      sql<string>`max(day)`.as('latest'),
    ])
    .groupBy(column)
    .orderBy('latest', 'desc')
    .orderBy('key', 'desc')
    .limit(MOST_ROWS)
    .execute();
  return found.map(
    ({ key, turns, input, cacheRead, cacheWrite, output, reasoning, microCost, unpriced, estimated }) => ({
      key,
      turns,
      inputTokens: input,
      cacheReadTokens: cacheRead,
      cacheWriteTokens: cacheWrite,
      outputTokens: output,
      reasoningTokens: reasoning,
      costUsd: microCost / 1_000_000,
      unpricedTokens: unpriced,
      ...(estimated > 0 && { estimatedTokens: estimated }),
    }),
  );
}

/** More than the days of two years. */
const MOST_ROWS = 1_000;
