import { isRecord } from '../../../protocol/is-record.ts';
import type { Step } from '../../agent/run/recorder.ts';
import type { WorkstreamTable } from '../store/schema/schema.ts';
import type { Store } from '../store/store.ts';
import { type ReadStored, storedReader } from '../store/stored-value.ts';

/** The last use of tokens, or an estimate after a cut. */
export type Used = Pick<NonNullable<Step['usage']>, 'usage' | 'contextWindow' | 'afterSeq'>;

/** The stored last usage of a workstream. */
export const usageIn = (row: Pick<WorkstreamTable, 'ws_id' | 'usage_json'>, read: ReadStored): Used | undefined =>
  row.usage_json === null ? undefined : read(row.usage_json, `the last usage of workstream ${row.ws_id}`, isUsage);

/** The last usage of a workstream that is not loaded. */
export const readUsage = (
  row: Pick<WorkstreamTable, 'ws_id' | 'usage_json'>,
  store: Pick<Store, 'reportDamage'>,
): Used | undefined => usageIn(row, storedReader(store));

/** How much of its context window a workstream uses. */
export function shareOf(used: Used | undefined): { contextTokens: number; contextRatio: number } {
  if (!used) return { contextTokens: 0, contextRatio: 0 };
  const contextTokens = used.usage.promptTokens + used.usage.completionTokens;
  const { contextWindow } = used;
  return {
    contextTokens,
    contextRatio: contextWindow > 0 ? Math.round((contextTokens / contextWindow) * 1_000) / 1_000 : 0,
  };
}

const isUsage = (value: unknown): value is Used => isRecord(value) && isRecord(value.usage);

/** Counts the tokens of a step. */
export function addTokens(tokens: { prompt: number; completion: number }, { usage, summarized }: Step): void {
  for (const used of [usage?.spent ?? usage?.usage, summarized?.usage]) {
    tokens.prompt += used?.promptTokens ?? 0;
    tokens.completion += used?.completionTokens ?? 0;
  }
}
