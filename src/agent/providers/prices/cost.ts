import type { Usage } from '../model.ts';
import type { Price } from './price.ts';

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
