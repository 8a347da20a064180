import { z } from 'zod';
import { contract } from '../../contract.ts';
import { JudgeTier, Recommendation, RiskLevel } from '../../events/verdict.ts';
import { optionalText } from '../../frames.ts';

/** How many verdicts one answer has at most. */
const MOST_VERDICTS = 500;
const AtMs = z.int().min(0);

/** A stored verdict about a tool call, and how it was decided about the call. */
const StoredVerdict = z
  .strictObject({
    verdictId: z.string(),
    wsId: z.string(),
    callId: z.string(),
    tool: z.string(),
    /** JSON; long texts in it are shortened. */
    arguments: z.string(),
    summary: z.string(),
    riskLevel: RiskLevel,
    confidence: z.number().min(0).max(1),
    recommendation: Recommendation,
    reasoning: z.string(),
    evidence: z.array(z.string()),
    tier: JudgeTier,
    /** Empty for the heuristic tier. */
    judgeModel: z.string(),
    latencyMs: z.int().min(0),
    /**
     * `pending`, `approved`, `denied`, `timeout` or `cancelled`; or, if nobody was asked about the call, why it ran: a
     * value of `auto_approve_reason`.
     */
    decision: z.string(),
    createdAtMs: AtMs,
  })
  .meta({ id: 'StoredVerdict' });

/** What the judge said about tool calls. */
export const verdictContracts = {
  'verdict.list': contract({
    summary: 'Verdicts of the judge about calls of the workstreams that the caller perceives, newest first.',
    scope: 'approve',
    permission: 'admin.judge',
    params: () =>
      z
        .strictObject({
          wsId: optionalText(64),
          /** First and last moment. */
          sinceMs: AtMs.optional(),
          untilMs: AtMs.optional(),
          riskLevel: RiskLevel.optional(),
          /** Default: 100. */
          limit: z.int().min(1).max(MOST_VERDICTS).optional(),
          offset: AtMs.optional(),
        })
        .meta({ id: 'VerdictListParams' }),
    result: () =>
      z.strictObject({ verdicts: z.array(StoredVerdict), total: z.int().min(0) }).meta({ id: 'VerdictListResult' }),
  }),
};
