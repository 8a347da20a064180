import type { UsageTotal } from '../protocol/methods/usage.ts';

/** The sum of two totals. Tokens that neither of them estimated stay absent. */
export function sumOfUsage(one: UsageTotal, other: UsageTotal): UsageTotal {
  const estimatedTokens = (one.estimatedTokens ?? 0) + (other.estimatedTokens ?? 0);
  return {
    turns: one.turns + other.turns,
    inputTokens: one.inputTokens + other.inputTokens,
    cacheReadTokens: one.cacheReadTokens + other.cacheReadTokens,
    cacheWriteTokens: one.cacheWriteTokens + other.cacheWriteTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    reasoningTokens: one.reasoningTokens + other.reasoningTokens,
    costUsd: one.costUsd + other.costUsd,
    unpricedTokens: one.unpricedTokens + other.unpricedTokens,
    ...(estimatedTokens > 0 && { estimatedTokens }),
  };
}
