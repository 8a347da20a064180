import type { OUTPUT_RISKS } from '../../../../protocol/events/output-warning.ts';

/** What the output guard found in the output of a call. Primary key assessment_id. */
export interface AssessmentTable {
  assessment_id: string;
  ws_id: string;
  call_id: string;
  func_name: string;
  /** A JSON list of texts, like the annotations. */
  flags_json: string;
  risk_level: (typeof OUTPUT_RISKS)[number];
  annotations_json: string;
  output_length: number;
  /** 0 or 1. */
  redacted: number;
  created_ms: number;
}

/** Schema version 37: findings of the output guard. */
export const assessments: readonly string[] = [
  `create table output_assessments (
    assessment_id text not null primary key, ws_id text not null, call_id text not null, func_name text not null,
    flags_json text not null, risk_level text not null, annotations_json text not null, output_length bigint not null,
    redacted integer not null, created_ms bigint not null
  )`,
  `create index assessments_by_time on output_assessments (created_ms)`,
  `create index assessments_by_workstream on output_assessments (ws_id, created_ms)`,
];
