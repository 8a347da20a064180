import { z } from 'zod';
import { RISK_LEVELS } from '../../events/verdict.ts';
import { Moment } from '../accounts/audit.ts';
import { endpoint } from '../endpoint.ts';

const RiskLevel = z.enum(RISK_LEVELS);
const MOST_VERDICTS = 500;

/** Verdicts of the judge (HTTP.md, "The judge"). */
export const verdictEndpoints = {
  list: endpoint({
    verb: 'get',
    path: '/v1/api/admin/verdicts',
    summary: 'Verdicts of the judge about tool calls, newest first.',
    scope: 'approve',
    request: () =>
      z.object({
        ws_id: z.string().optional(),
        since: Moment.optional(),
        until: Moment.optional(),
        risk_level: z
          .enum(RISK_LEVELS, { error: `must be one of: ${RISK_LEVELS.join(', ')}` })
          .or(z.literal(''))
          .optional(),
        /** A higher one is lowered to 500. */
        limit: z.coerce
          .number()
          .int()
          .min(1)
          .transform((limit) => Math.min(limit, MOST_VERDICTS))
          .optional(),
        offset: z.coerce.number().int().min(0).optional(),
      }),
    reply: () =>
      z.object({
        verdicts: z.array(
          z.object({
            verdict_id: z.string(),
            ws_id: z.string(),
            call_id: z.string(),
            func_name: z.string(),
            func_args: z.string(),
            intent_summary: z.string(),
            risk_level: RiskLevel,
            confidence: z.number(),
            recommendation: z.enum(['approve', 'review', 'deny']),
            reasoning: z.string(),
            /** A JSON list of texts. */
            evidence: z.string(),
            tier: z.enum(['heuristic', 'llm']),
            judge_model: z.string(),
            latency_ms: z.int(),
            user_decision: z.string(),
            created: z.string(),
          }),
        ),
        total: z.int(),
      }),
  }),
};
