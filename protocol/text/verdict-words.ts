import type { RiskLevel, Verdict } from '../events/verdict.ts';

/** How risky a call is, for people. */
export const RISK_WORDS: Record<RiskLevel, string> = {
  low: 'Low risk',
  medium: 'Medium risk',
  high: 'High risk',
  critical: 'Critical risk',
};

const ADVICE: Record<Verdict['recommendation'], string> = {
  approve: 'approve it',
  review: 'look at it closely',
  deny: 'deny it',
};

/** Who rated the call, how sure they are, and what they would do. */
export function toRaterWords({
  tier,
  judge_model,
  confidence,
  recommendation,
}: Pick<Verdict, 'tier' | 'judge_model' | 'confidence' | 'recommendation'>): string {
  const rater = tier === 'heuristic' ? 'fixed rules' : judge_model === '' ? 'a model' : `the model ${judge_model}`;
  return `Rated by ${rater}, ${Math.round(confidence * 100)} % sure. Advice: ${ADVICE[recommendation]}.`;
}
