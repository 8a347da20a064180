import { worseOf } from '../../../../protocol/health/worse-sample.ts';
import type { HealthSample } from '../../../../protocol/methods/health.ts';
import type { UsageTotal } from '../../../../protocol/methods/usage.ts';
import { moneyOf } from '../../../../protocol/text/spending/spending-words.ts';

/** The most of each list that is shown. */
const SHOWN = 20;

/** The first ones of a list, and how many are left out. */
export const firstOf = <T>(all: readonly T[], shown = SHOWN): { rows: readonly T[]; left: number } => ({
  rows: all.slice(0, shown),
  left: Math.max(0, all.length - shown),
});

/** What the charts of the last day say in words. */
export interface HealthFacts {
  /** The worst ones; undefined without a sample. */
  lag: HealthSample | undefined;
  /** Undefined if nothing was written. */
  write: HealthSample | undefined;
  /** In how many samples requests to the model were refused. */
  openSamples: number;
  /** In how many samples the store refused writes. */
  fullSamples: number;
}

export const toFacts = (samples: readonly HealthSample[]): HealthFacts => ({
  lag: mostOf(samples, ({ lagMs }) => lagMs),
  write: mostOf(
    samples.filter(({ storeMs }) => storeMs !== undefined),
    ({ storeMs = 0 }) => storeMs,
  ),
  openSamples: samples.filter(({ circuit }) => circuit !== 'closed').length,
  fullSamples: samples.filter(({ store }) => store !== 'ok').length,
});

function mostOf<T>(all: readonly T[], amountOf: (one: T) => number): T | undefined {
  let most: T | undefined;
  for (const one of all) if (most === undefined || amountOf(one) > amountOf(most)) most = one;
  return most;
}

/** A column of a chart, in its units. */
export interface Column {
  x: number;
  width: number;
  height: number;
}

/** The share of each column that is free, so that columns stand apart. */
const GAP = 0.2;

/** Columns of the same width, from the left, as high as their values. */
export function toColumns(values: readonly number[], { width, height }: { width: number; height: number }): Column[] {
  const most = Math.max(...values, 0) || 1;
  const step = width / Math.max(1, values.length);
  return values.map((value, index) => ({
    x: index * step + (step * GAP) / 2,
    width: step * (1 - GAP),
    // Something is never drawn like nothing.
    height: value === 0 ? 0 : Math.max(1, (value / most) * height),
  }));
}

/** A week at least, so that the first day of use is not as wide as the chart. */
const LEAST_DAYS = 7;

/** The days before the first one that a chart shows, too. */
export function daysBefore(keys: readonly string[]): string[] {
  const first = Date.parse(keys[0] ?? '');
  const missing = Number.isNaN(first) ? 0 : Math.max(0, LEAST_DAYS - keys.length);
  const dayOf = (index: number) => new Date(first - (missing - index) * DAY_MS).toISOString().slice(0, 10);
  return Array.from({ length: missing }, (_, index) => dayOf(index));
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Where a time of the last day stands in a chart of this width. */
export const placeOf = (atMs: number, nowMs: number, width: number): number =>
  Math.min(width, Math.max(0, ((atMs - (nowMs - DAY_MS)) / DAY_MS) * width));

/** One row per hour for the table below the charts, the latest first. */
export function toHours(samples: readonly HealthSample[]): HealthSample[] {
  const hours = new Map<number, HealthSample>();
  for (const sample of samples) {
    const atMs = Math.floor(sample.atMs / HOUR_MS) * HOUR_MS;
    const known = hours.get(atMs);
    hours.set(atMs, known === undefined ? { ...sample, atMs } : worseOf(known, sample));
  }
  return [...hours.values()].reverse();
}

/** What a day took. Money alone would look like all of it if some models have no price. */
export function toDayWords({ inputTokens, outputTokens, costUsd, unpricedTokens }: UsageTotal): string {
  const count = (tokens: number) => tokens.toLocaleString('en-US');
  const unpriced = unpricedTokens > 0 ? ` (${count(unpricedTokens)} of them without a price)` : '';
  return `${moneyOf(costUsd)}, ${count(inputTokens + outputTokens)} tokens${unpriced}`;
}
