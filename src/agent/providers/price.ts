import { z } from 'zod';
import type { Usage } from './model.ts';

const PerMillion = z.number().min(0).max(1_000_000);

/** US dollars per million tokens. Cached tokens cost as much as other input unless they have their own price. */
export const Price = z.strictObject({
  input: PerMillion,
  output: PerMillion,
  cacheRead: PerMillion.optional(),
  cacheWrite: PerMillion.optional(),
});
export type Price = z.infer<typeof Price>;

/** The cost in millionths of a US dollar. Output includes reasoning, and input includes cached tokens. */
export function microCostOf(usage: Usage, { input, output, cacheRead = input, cacheWrite = input }: Price): number {
  const { promptTokens, completionTokens, cacheReadTokens, cacheCreationTokens } = usage;
  const fresh = Math.max(0, promptTokens - cacheReadTokens - cacheCreationTokens);
  return Math.round(
    fresh * input + cacheReadTokens * cacheRead + cacheCreationTokens * cacheWrite + completionTokens * output,
  );
}

/** The list price of a hosted model, by the longest known prefix; undefined for models that are not in the list. */
export const knownPrice = (modelId: string): Price | undefined =>
  LIST_PRICES.find(([prefix]) => modelId.startsWith(prefix))?.[1];

const anthropic = (input: number, output: number): Price => ({
  input,
  output,
  cacheRead: input * 0.1,
  cacheWrite: input * 1.25,
});

// Only published prices; a guess would be worse than none. Longer prefixes first.
const LIST_PRICES: [prefix: string, price: Price][] = [
  ['claude-opus-4-5', anthropic(5, 25)],
  ['claude-opus-4-1', anthropic(15, 75)],
  ['claude-opus-4-2025', anthropic(15, 75)],
  ['claude-sonnet-4-5', anthropic(3, 15)],
  ['claude-sonnet-4-2025', anthropic(3, 15)],
  ['claude-haiku-4-5', anthropic(1, 5)],
  ['claude-3-7-sonnet', anthropic(3, 15)],
  ['claude-3-5-haiku', anthropic(0.8, 4)],
  ['gpt-5-mini', { input: 0.25, output: 2, cacheRead: 0.025 }],
  ['gpt-5-nano', { input: 0.05, output: 0.4, cacheRead: 0.005 }],
  ['gpt-5-2025', { input: 1.25, output: 10, cacheRead: 0.125 }],
  ['gpt-4.1-mini', { input: 0.4, output: 1.6, cacheRead: 0.1 }],
  ['gpt-4.1-nano', { input: 0.1, output: 0.4, cacheRead: 0.025 }],
  ['gpt-4.1', { input: 2, output: 8, cacheRead: 0.5 }],
  ['gpt-4o-mini', { input: 0.15, output: 0.6, cacheRead: 0.075 }],
  ['gpt-4o', { input: 2.5, output: 10, cacheRead: 1.25 }],
  ['o3-mini', { input: 1.1, output: 4.4, cacheRead: 0.55 }],
  ['o4-mini', { input: 1.1, output: 4.4, cacheRead: 0.275 }],
  ['gemini-2.5-flash-lite', { input: 0.1, output: 0.4 }],
  ['gemini-2.5-flash', { input: 0.3, output: 2.5 }],
];
