import type { CallEffects, EffectKind } from '../events/call-effects.ts';
import type { RiskLevel, Verdict } from '../events/verdict.ts';

/** How risky a call is, for people. */
export const RISK_WORDS: Record<RiskLevel, string> = {
  low: 'Low risk',
  medium: 'Medium risk',
  high: 'High risk',
  critical: 'Critical risk',
};

/** The risk and its reason, unless the reason only repeats an effect of the call, which is shown beside it. */
export function toRiskWords(
  { risk_level, reasoning }: Pick<Verdict, 'risk_level' | 'reasoning'>,
  effects: CallEffects | undefined,
): string {
  const repeats = effects?.list.some(({ kind, target }) => reasoning === `It ${VERBS[kind]} ${target}.`);
  return repeats ? RISK_WORDS[risk_level] : `${RISK_WORDS[risk_level]}: ${reasoning}`;
}

const VERBS: Partial<Record<EffectKind, string>> = { write: 'writes', delete: 'deletes' };

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
