import { z } from 'zod';

/** How risky a call is, from the least to the most. */
export const RISK_LEVELS = ['low', 'medium', 'high', 'critical'] as const;
/** The levels as a schema. */
export const RiskLevel = z.enum(RISK_LEVELS);
export type RiskLevel = z.infer<typeof RiskLevel>;

/** What a judge would do with a call. */
export const Recommendation = z.enum(['approve', 'review', 'deny']);
export type Recommendation = z.infer<typeof Recommendation>;

/** Who judged: rules at once, or a model later. */
export const JudgeTier = z.enum(['heuristic', 'llm']);
export type JudgeTier = z.infer<typeof JudgeTier>;

/** What every verdict says about a call, except for its arguments. */
const verdictShape = {
  verdict_id: z.string(),
  call_id: z.string(),
  func_name: z.string(),
  intent_summary: z.string(),
  risk_level: RiskLevel,
  /** From 0 to 1. */
  confidence: z.number().min(0).max(1),
  recommendation: Recommendation,
  reasoning: z.string(),
  evidence: z.array(z.string()),
  tier: JudgeTier,
  /** Empty for the heuristic tier. */
  judge_model: z.string(),
  /** 0 for the heuristic tier. */
  latency_ms: z.int().min(0),
};

/** The verdict of a model, which comes later. */
export const lateVerdictShape = { ...verdictShape, tier: z.literal('llm') };

/** The same outside the event that tells it. */
export const ModelVerdict = z.object(lateVerdictShape).meta({ id: 'ModelVerdict' });
export type ModelVerdict = z.infer<typeof ModelVerdict>;

/** Why there is no verdict of a model. */
export const judgeStateShape = {
  call_id: z.string(),
  state: z.enum(['unavailable', 'timeout']),
  /** For people. */
  reason: z.string(),
};

/** A verdict about a tool call. It decides nothing, except in the mode `auto`. */
export const Verdict = z
  .object({
    ...verdictShape,
    /** The arguments as JSON; long texts in it are shortened. */
    func_args: z.string(),
  })
  .meta({ id: 'Verdict' });
export type Verdict = z.infer<typeof Verdict>;
