import { Counter, Histogram, type Registry } from 'prom-client';
import type { JudgeTier, RiskLevel, Verdict } from '../../../protocol/events/verdict.ts';

/** What the judge says. */
export interface JudgeMetrics {
  /** Counts a verdict. */
  verdict(tier: JudgeTier, level: RiskLevel): void;
  /** Counts a verdict of a model, and how long it took. */
  modelVerdict(verdict: Pick<Verdict, 'risk_level' | 'latency_ms'>): void;
}

/** Models take from a second to a minute. */
const BUCKETS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120];

export function createJudgeMetrics(registry: Registry): JudgeMetrics {
  const registers = [registry];
  const verdicts = new Counter({
    name: 'service_judge_verdicts_total',
    help: 'Verdicts about tool calls',
    labelNames: ['tier', 'risk_level'],
    registers,
  });
  const latency = new Histogram({
    name: 'service_judge_llm_latency_seconds',
    help: 'Time from a question to the verdict of a model',
    buckets: BUCKETS,
    registers,
  });
  return {
    verdict: (tier, risk_level) => verdicts.inc({ tier, risk_level }),
    modelVerdict({ risk_level, latency_ms }) {
      verdicts.inc({ tier: 'llm', risk_level });
      latency.observe(latency_ms / 1000);
    },
  };
}
