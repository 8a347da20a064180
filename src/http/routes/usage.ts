import { usageEndpoints } from '../../../protocol/http/usage.ts';
import type { UsageReportTotal } from '../../../protocol/methods/usage.ts';
import { bind, given } from '../bind.ts';
import { momentOf } from '../iso.ts';

const toSums = (total: UsageReportTotal) => ({
  prompt_tokens: total.inputTokens,
  completion_tokens: total.outputTokens,
  tool_calls_count: total.toolCalls,
  cache_creation_tokens: total.cacheWriteTokens,
  cache_read_tokens: total.cacheReadTokens,
  turns: total.turns,
  cost_usd: total.costUsd,
});

export const usageRoutes = [
  bind(usageEndpoints.report, 'usage.report', {
    params: ({ since, until, user_id, model, group_by }) => ({
      sinceMs: momentOf(since),
      untilMs: momentOf(until),
      userId: given(user_id),
      model: given(model),
      groupBy: given(group_by),
    }),
    fieldNames: { sinceMs: 'since', untilMs: 'until' },
    reply: ({ summary, breakdown }) => ({
      summary: [toSums(summary)],
      breakdown: breakdown.map((row) => ({ key: row.key, username: row.username ?? null, ...toSums(row) })),
    }),
  }),
];
