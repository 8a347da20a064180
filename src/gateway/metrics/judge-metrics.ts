import { Counter, type Registry } from 'prom-client';
import type { JudgeTier, RiskLevel } from '../../../protocol/events/verdict.ts';

/** What the judge says. */
export interface JudgeMetrics {
  /** Counts a verdict. */
  verdict(tier: JudgeTier, level: RiskLevel): void;
}

export function createJudgeMetrics(registry: Registry): JudgeMetrics {
  const verdicts = new Counter({
    name: 'service_judge_verdicts_total',
    help: 'Verdicts about tool calls',
    labelNames: ['tier', 'risk_level'],
    registers: [registry],
  });
  return { verdict: (tier, risk_level) => verdicts.inc({ tier, risk_level }) };
}
