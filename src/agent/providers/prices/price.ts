import { z } from 'zod';
import type { Usage } from '../model.ts';

const PerMillion = z.number().min(0).max(1_000_000);

const rates = {
  input: PerMillion,
  output: PerMillion,
  cacheRead: PerMillion.optional(),
  cacheWrite: PerMillion.optional(),
};

/** US dollars per million tokens. Cached tokens cost as much as other input unless they have their own price. */
export const Price = z.strictObject({
  ...rates,
  /** Replaces all of these for requests whose input has more than `above` tokens. */
  long: z.strictObject({ above: z.int().positive(), ...rates }).optional(),
});
export type Price = z.infer<typeof Price>;

/**
 * The cost in millionths of a US dollar. Output includes reasoning, and input includes cached tokens. `inputTokens`: of
 * the longest request, if `usage` is the sum of several.
 */
export function microCostOf(usage: Usage, price: Price, inputTokens = usage.promptTokens): number {
  const isLong = price.long !== undefined && inputTokens > price.long.above;
  const { input, output, cacheRead = input, cacheWrite = input } = isLong && price.long ? price.long : price;
  const { promptTokens, completionTokens, cacheReadTokens, cacheCreationTokens } = usage;
  const fresh = Math.max(0, promptTokens - cacheReadTokens - cacheCreationTokens);
  return Math.round(
    fresh * input + cacheReadTokens * cacheRead + cacheCreationTokens * cacheWrite + completionTokens * output,
  );
}
