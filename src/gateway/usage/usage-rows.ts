import { sql } from 'kysely';
import type { UsageGrouping, UsageRow, UsageTotal } from '../../../protocol/methods/usage.ts';
import type { Usage } from '../../agent/providers/model.ts';
import { microCostOf } from '../../agent/providers/prices/cost.ts';
import type { Spending } from '../../agent/run/spending.ts';
import { toDay } from '../../day.ts';
import type { RunRecord } from '../runs/run-record.ts';
import { perceivedBy, type Viewer } from '../sharing/perception.ts';
import type { UsageTable } from '../store/schema/usage-schema.ts';
import type { Statement, Store } from '../store/store.ts';
import { usedDays } from './used-days.ts';

interface SpentMore {
  spent?: Usage;
  isEstimated?: true;
  /** The calls that the turn asked for. */
  toolCalls?: number;
}

/** Of the day in UTC. */
export const hourOf = (ms: number): number => new Date(ms).getUTCHours();

/** Adds the tokens of a model turn to those of its run. Rows outlive their workstream, because the money is spent. */
export function addUsage(
  run: Pick<RunRecord, 'runId' | 'wsId' | 'principal'>,
  { usage, spent = usage, model, isEstimated, toolCalls = 0 }: Spending & SpentMore,
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
      hourOf(nowMs),
      toolCalls,
    ],
  };
}

const ADD_SQL = `INSERT INTO usage (run_id, model, day, ws_id, principal, turns, input, cache_read, cache_write, output,
    reasoning, micro_cost, unpriced, estimated, hour, tool_calls)
  VALUES (?, ?, ?, ?, ?, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (run_id, model, day) DO UPDATE SET turns = usage.turns + 1, input = usage.input + excluded.input,
    cache_read = usage.cache_read + excluded.cache_read, cache_write = usage.cache_write + excluded.cache_write,
    output = usage.output + excluded.output, reasoning = usage.reasoning + excluded.reasoning,
    micro_cost = usage.micro_cost + excluded.micro_cost, unpriced = usage.unpriced + excluded.unpriced,
    estimated = usage.estimated + excluded.estimated, tool_calls = usage.tool_calls + excluded.tool_calls`;

/** Which rows to add up; days are inclusive. */
export interface UsageQuery {
  /** Gets no numbers of single workstreams, and of single runs, that they do not perceive. */
  viewer: Viewer;
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

/** The sums by one column, and of everything. */
export interface UsageSums {
  rows: UsageRow[];
  total: UsageTotal;
  /** There are more rows than these. */
  truncated?: true;
}

/** Adds up the tokens by one column, with the newest day or the greatest key first. */
export async function readUsage({ db }: Pick<Store, 'db'>, by: UsageGrouping, query: UsageQuery): Promise<UsageSums> {
  const found = new Map<string, Sums>();
  const total = { ...NOTHING };
  let isLong = false;
  for await (const day of usedDays(db, query)) {
    // Rows of earlier days come behind, so this is the final order.
    for (const { key, ...sums } of await sumsOfDay(db, by, { ...query, day })) {
      addTo(total, sums);
      const known = found.get(key);
      if (known !== undefined) addTo(known, sums);
      else if (found.size < MOST_ROWS) found.set(key, sums);
      else isLong = true;
    }
  }
  return {
    rows: [...found].map(([key, sums]) => ({ key, ...toTotal(sums) })),
    total: toTotal(total),
    ...(isLong && { truncated: true }),
  };
}

/** With the greatest key first. */
function sumsOfDay(
  db: Store['db'],
  by: UsageGrouping,
  { viewer, wsId, day }: UsageQuery & { day: string },
): Promise<(Sums & { key: string })[]> {
  const column = COLUMNS[by];
  let chosen = db.selectFrom('usage').where('day', '=', day);
  if (wsId !== undefined) chosen = chosen.where('ws_id', '=', wsId);
  if (wsId !== undefined || by === 'workstream' || by === 'run') chosen = chosen.where(isPerceived(viewer));
  const keyed = chosen.select(SUMS).select((eb) => eb.ref(column).as('key'));
  return keyed.groupBy(column).orderBy('key', 'desc').execute();
}

/** Rows outlive their workstream; of a deleted one nobody knows any more who perceived it. */
function isPerceived(viewer: Viewer) {
  if (viewer.permissions.has('workstreams.all')) return sql<boolean>`true`;
  return sql<boolean>`exists (select 1 from workstreams where workstreams.ws_id = usage.ws_id and ${perceivedBy(viewer)})`;
}

const sumOf = <T extends keyof UsageTable>(column: T) =>
  sql<number>`coalesce(sum(${sql.ref(column)}), 0)`.as<T>(column);

/** The sums of rows. */
export const SUMS = [
  sumOf('turns'),
  sumOf('input'),
  sumOf('cache_read'),
  sumOf('cache_write'),
  sumOf('output'),
  sumOf('reasoning'),
  sumOf('micro_cost'),
  sumOf('unpriced'),
  sumOf('estimated'),
] as const;

/** What SUMS selects. */
export type Sums = Omit<UsageTable, 'run_id' | 'model' | 'day' | 'ws_id' | 'principal' | 'hour' | 'tool_calls'>;

/** The sums of no rows. */
export const NOTHING: Readonly<Sums> = {
  turns: 0,
  input: 0,
  cache_read: 0,
  cache_write: 0,
  output: 0,
  reasoning: 0,
  micro_cost: 0,
  unpriced: 0,
  estimated: 0,
};

function addTo(sums: Sums, more: Sums): void {
  sums.turns += more.turns;
  sums.input += more.input;
  sums.cache_read += more.cache_read;
  sums.cache_write += more.cache_write;
  sums.output += more.output;
  sums.reasoning += more.reasoning;
  sums.micro_cost += more.micro_cost;
  sums.unpriced += more.unpriced;
  sums.estimated += more.estimated;
}

/** The sums as they are told. */
export const toTotal = (sums: Sums): UsageTotal => ({
  turns: sums.turns,
  inputTokens: sums.input,
  cacheReadTokens: sums.cache_read,
  cacheWriteTokens: sums.cache_write,
  outputTokens: sums.output,
  reasoningTokens: sums.reasoning,
  costUsd: sums.micro_cost / 1_000_000,
  unpricedTokens: sums.unpriced,
  ...(sums.estimated > 0 && { estimatedTokens: sums.estimated }),
});

/** More than the days of two years. */
const MOST_ROWS = 1_000;
