import type { BudgetScope } from '../../../../protocol/run-outcome.ts';

/** Primary key (run_id, model, day). */
export interface UsageTable {
  run_id: string;
  /** `provider/model`. */
  model: string;
  /** In UTC, such as 2026-01-31. */
  day: string;
  ws_id: string;
  principal: string;
  /** Answered model turns. */
  turns: number;
  /** Tokens; `input` includes cached ones, `output` includes reasoning. */
  input: number;
  cache_read: number;
  cache_write: number;
  output: number;
  reasoning: number;
  /** Millionths of a US dollar. */
  micro_cost: number;
  /** Tokens without a price. */
  unpriced: number;
  /** Tokens of calls that broke off before their usage was known. */
  estimated: number;
  /** Of the day, when the run first used the model on it. 0 in rows of earlier versions. */
  hour: number;
  /** Tool calls that the model asked for. 0 in rows of earlier versions. */
  tool_calls: number;
}

/** A model call whose usage is not known yet. Primary key run_id. */
export interface ReservationTable {
  run_id: string;
  ws_id: string;
  principal: string;
  model: string;
  day: string;
  /** What is counted if the usage never arrives, in tokens and millionths of a US dollar. */
  input: number;
  output: number;
  micro_cost: number;
  /** Null if the model has a price, otherwise 1. */
  unpriced: number | null;
  hour: number;
}

/** What a person added to a budget. Primary key approval_id. */
export interface BudgetGrantTable {
  approval_id: string;
  scope: BudgetScope;
  key: string;
  /** Empty for runs and workstreams. */
  day: string;
  tokens: number;
  micro_usd: number;
  granted_by: string;
  at_ms: number;
}

/** The own budget of a workstream. Primary key ws_id. */
export interface WorkstreamBudgetTable {
  ws_id: string;
  tokens: number | null;
  micro_usd: number | null;
}

/** Schema version 22: budgets, and the model calls that they wait for. */
export const budgets: readonly string[] = [
  'alter table usage add column estimated bigint not null default 0',
  `create table reservations (
    run_id text not null primary key, ws_id text not null, principal text not null, model text not null,
    day text not null, input bigint not null, output bigint not null, micro_cost bigint not null, unpriced bigint
  ) without rowid`,
  `create table budget_grants (
    approval_id text not null primary key, scope text not null, key text not null, day text not null,
    tokens bigint not null, micro_usd bigint not null, granted_by text not null, at_ms bigint not null
  )`,
  'create index budget_grants_by_scope on budget_grants (scope, key, day)',
  'create table workstream_budgets (ws_id text not null primary key, tokens bigint, micro_usd bigint)',
];

/** Schema version 31: when on its day usage began, and the tool calls that models asked for. */
export const usageHours: readonly string[] = [
  'alter table usage add column hour bigint not null default 0',
  'alter table usage add column tool_calls bigint not null default 0',
  'alter table reservations add column hour bigint not null default 0',
];
