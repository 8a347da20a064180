import { verdictEndpoints } from '../../../../protocol/http/admin/verdict.ts';
import { bind, given } from '../../bind.ts';
import { iso, momentOf } from '../../iso.ts';

export const verdictRoutes = [
  bind(verdictEndpoints.list, 'verdict.list', {
    params: ({ ws_id, since, until, risk_level, limit, offset }) => ({
      wsId: given(ws_id),
      sinceMs: momentOf(since),
      untilMs: momentOf(until),
      riskLevel: risk_level === '' ? undefined : risk_level,
      limit,
      offset,
    }),
    fieldNames: { sinceMs: 'since', untilMs: 'until' },
    reply: ({ verdicts, total }) => ({
      verdicts: verdicts.map((verdict) => ({
        verdict_id: verdict.verdictId,
        ws_id: verdict.wsId,
        call_id: verdict.callId,
        func_name: verdict.tool,
        func_args: verdict.arguments,
        intent_summary: verdict.summary,
        risk_level: verdict.riskLevel,
        confidence: verdict.confidence,
        recommendation: verdict.recommendation,
        reasoning: verdict.reasoning,
        evidence: JSON.stringify(verdict.evidence),
        tier: verdict.tier,
        judge_model: verdict.judgeModel,
        latency_ms: verdict.latencyMs,
        user_decision: verdict.decision,
        created: iso(verdict.createdAtMs),
      })),
      total,
    }),
  }),
];
