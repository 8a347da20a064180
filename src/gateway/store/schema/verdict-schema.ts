import type { JudgeTier, Recommendation, RiskLevel } from '../../../../protocol/events/verdict.ts';

/** A verdict about a tool call. Primary key verdict_id. */
export interface VerdictTable {
  verdict_id: string;
  ws_id: string;
  call_id: string;
  /** The question about the call; null: nobody was asked. */
  approval_id: string | null;
  func_name: string;
  /** JSON. */
  func_args: string;
  intent_summary: string;
  risk_level: RiskLevel;
  confidence: number;
  recommendation: Recommendation;
  reasoning: string;
  /** A JSON list of texts. */
  evidence_json: string;
  tier: JudgeTier;
  judge_model: string;
  latency_ms: number;
  user_decision: string;
  created_ms: number;
}

/** Schema version 36: verdicts. */
export const verdicts: readonly string[] = [
  `create table verdicts (
    verdict_id text not null primary key, ws_id text not null, call_id text not null, approval_id text,
    func_name text not null, func_args text not null, intent_summary text not null, risk_level text not null,
    confidence real not null, recommendation text not null, reasoning text not null, evidence_json text not null,
    tier text not null, judge_model text not null, latency_ms bigint not null, user_decision text not null,
    created_ms bigint not null
  )`,
  `create index verdicts_by_time on verdicts (created_ms)`,
  `create index verdicts_by_workstream on verdicts (ws_id, created_ms)`,
  `create unique index verdicts_by_question on verdicts (approval_id, call_id, tier)`,
];
