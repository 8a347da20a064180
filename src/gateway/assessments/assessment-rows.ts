import type { Result } from '../../../protocol/index.ts';
import type { NewAssessment } from '../../agent/run/recorder.ts';
import { perceivedBy, type Viewer } from '../sharing/perception.ts';
import { DELETED } from '../store/deletion.ts';
import type { AssessmentTable } from '../store/schema/verdict-schema.ts';
import { build, statementOf } from '../store/statements.ts';
import type { Statement, Store } from '../store/store.ts';

/** Stores what the output guard found in the results of a step. */
export const insertAssessments = (
  wsId: string,
  found: readonly NewAssessment[] | undefined,
  nowMs: number,
): Statement[] =>
  (found ?? []).map((each) => statementOf(build.insertInto('output_assessments').values(toRow(wsId, each, nowMs)), 1));

const toRow = (wsId: string, { assessmentId, warning }: NewAssessment, nowMs: number): AssessmentTable => ({
  assessment_id: assessmentId,
  ws_id: wsId,
  call_id: warning.call_id,
  func_name: warning.func_name,
  flags_json: JSON.stringify(warning.flags),
  risk_level: warning.risk_level,
  annotations_json: JSON.stringify(warning.annotations),
  output_length: warning.output_length,
  redacted: warning.redacted ? 1 : 0,
  created_ms: nowMs,
});

interface Asked {
  wsId?: string | undefined;
  sinceMs?: number | undefined;
  untilMs?: number | undefined;
  riskLevel?: AssessmentTable['risk_level'] | undefined;
  limit: number;
  offset: number;
  viewer: Viewer;
}

/** The findings in the workstreams that the viewer perceives, newest first. */
export async function listAssessments(db: Store['db'], asked: Asked): Promise<Result<'assessment.list'>> {
  const chosen = choose(db, asked);
  const [rows, counted] = await Promise.all([
    chosen
      .selectAll('output_assessments')
      .orderBy('output_assessments.created_ms', 'desc')
      .orderBy('output_assessments.assessment_id', 'desc')
      .limit(asked.limit)
      .offset(asked.offset)
      .execute(),
    chosen.select(({ fn }) => fn.countAll<number>().as('total')).executeTakeFirst(),
  ]);
  return { assessments: rows.map(toAssessment), total: Number(counted?.total ?? 0) };
}

function choose(db: Store['db'], { wsId, sinceMs, untilMs, riskLevel, viewer }: Asked) {
  let chosen = db
    .selectFrom('output_assessments')
    .innerJoin('workstreams', 'workstreams.ws_id', 'output_assessments.ws_id')
    .where('workstreams.loaded', '!=', DELETED)
    .where(perceivedBy(viewer));
  if (wsId !== undefined) chosen = chosen.where('output_assessments.ws_id', '=', wsId);
  if (sinceMs !== undefined) chosen = chosen.where('output_assessments.created_ms', '>=', sinceMs);
  if (untilMs !== undefined) chosen = chosen.where('output_assessments.created_ms', '<=', untilMs);
  if (riskLevel !== undefined) chosen = chosen.where('output_assessments.risk_level', '=', riskLevel);
  return chosen;
}

const toAssessment = (row: AssessmentTable): Result<'assessment.list'>['assessments'][number] => ({
  assessmentId: row.assessment_id,
  wsId: row.ws_id,
  callId: row.call_id,
  tool: row.func_name,
  flags: toTexts(row.flags_json),
  riskLevel: row.risk_level,
  annotations: toTexts(row.annotations_json),
  outputLength: row.output_length,
  redacted: row.redacted === 1,
  createdAtMs: row.created_ms,
});

/** None of a damaged row. */
function toTexts(json: string): string[] {
  try {
    const value: unknown = JSON.parse(json);
    return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
  } catch {
    return [];
  }
}
