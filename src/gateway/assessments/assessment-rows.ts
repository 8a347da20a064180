import type { Params, Result } from '../../../protocol/index.ts';
import type { NewAssessment } from '../../agent/run/recorder.ts';
import { perceivedBy, type Viewer } from '../sharing/perception.ts';
import { DELETED } from '../store/deletion.ts';
import type { AssessmentTable } from '../store/schema/verdict-schema.ts';
import { build, statementOf } from '../store/statements.ts';
import type { Statement, Store } from '../store/store.ts';
import { isListOf, isText, type ReadStored, storedReader } from '../store/stored-value.ts';

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

type Asked = Params<'assessment.list'> & { limit: number; offset: number; viewer: Viewer };
type Readable = Pick<Store, 'db' | 'reportDamage'>;

/** The findings in the workstreams that the viewer perceives, newest first. */
export async function listAssessments(store: Readable, asked: Asked): Promise<Result<'assessment.list'>> {
  const chosen = choose(store.db, asked);
  const read = storedReader(store);
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
  return { assessments: rows.map((row) => toAssessment(row, read)), total: Number(counted?.total ?? 0) };
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

const toAssessment = (row: AssessmentTable, read: ReadStored): Result<'assessment.list'>['assessments'][number] => ({
  assessmentId: row.assessment_id,
  wsId: row.ws_id,
  callId: row.call_id,
  tool: row.func_name,
  flags: read(row.flags_json, `the flags of assessment ${row.assessment_id}`, isListOf(isText)) ?? [],
  riskLevel: row.risk_level,
  annotations: read(row.annotations_json, `the annotations of assessment ${row.assessment_id}`, isListOf(isText)) ?? [],
  outputLength: row.output_length,
  redacted: row.redacted === 1,
  createdAtMs: row.created_ms,
});
