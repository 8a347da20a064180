import type { ModelVerdict, Verdict } from '../../../protocol/events/verdict.ts';
import type { Params, Result } from '../../../protocol/index.ts';
import type { Advice } from '../../agent/judge/assessment.ts';
import type { NewVerdict, Step } from '../../agent/run/recorder.ts';
import { perceivedBy, type Viewer } from '../sharing/perception.ts';
import { DELETED } from '../store/deletion.ts';
import type { VerdictTable } from '../store/schema/verdict-schema.ts';
import type { Statement, Store } from '../store/store.ts';
import { isListOf, isText, type ReadStored, storedReader } from '../store/stored-value.ts';

/** What is stored as the decision while a person is asked. */
export const PENDING = 'pending';

/** Stores the verdicts of a step. */
export const insertVerdicts = (wsId: string, verdicts: readonly NewVerdict[], nowMs: number): Statement[] =>
  verdicts.map((each) => {
    const row = toRow(wsId, each, nowMs);
    return { sql: INSERT_SQL, parameters: COLUMNS.map((column) => row[column]), expect: 1 };
  });

const COLUMNS = [
  ...(['verdict_id', 'ws_id', 'call_id', 'approval_id', 'func_name', 'func_args', 'intent_summary'] as const),
  ...(['risk_level', 'confidence', 'recommendation', 'reasoning', 'evidence_json', 'tier', 'judge_model'] as const),
  ...(['latency_ms', 'user_decision', 'created_ms'] as const),
] satisfies (keyof VerdictTable)[];
/** Not by the builder, because almost every tool call has one. */
const INSERT_SQL = `INSERT INTO verdicts (${COLUMNS.join(', ')}) VALUES (${COLUMNS.map(() => '?').join(', ')})`;

const toRow = (wsId: string, { verdict, approvalId, auto }: NewVerdict, nowMs: number): VerdictTable => ({
  verdict_id: verdict.verdict_id,
  ws_id: wsId,
  call_id: verdict.call_id,
  approval_id: approvalId ?? null,
  func_name: verdict.func_name,
  func_args: verdict.func_args,
  intent_summary: verdict.intent_summary,
  risk_level: verdict.risk_level,
  confidence: verdict.confidence,
  recommendation: verdict.recommendation,
  reasoning: verdict.reasoning,
  evidence_json: JSON.stringify(verdict.evidence),
  tier: verdict.tier,
  judge_model: verdict.judge_model,
  latency_ms: verdict.latency_ms,
  user_decision: auto ?? PENDING,
  created_ms: nowMs,
});

/**
 * Stores the verdict of a model with what was decided about the call by then, as the verdict of the rules has it; refused if
 * there is one, or no question any more.
 */
export function insertLateVerdict(
  { wsId, approvalId, verdict }: { wsId: string; approvalId: string; verdict: Verdict },
  nowMs: number,
): Statement {
  const { user_decision: _, ...row } = toRow(wsId, { verdict, approvalId }, nowMs);
  const columns = Object.keys(row);
  return {
    sql: `INSERT INTO verdicts (${columns.join(', ')}, user_decision)
          SELECT ${columns.map(() => '?').join(', ')}, user_decision FROM verdicts
          WHERE approval_id = ? AND call_id = ? AND tier = 'heuristic' ON CONFLICT DO NOTHING`,
    parameters: [...Object.values(row), approvalId, verdict.call_id],
    expect: 1,
  };
}

/** What a model said about the calls of a question, by their ids. */
export async function modelVerdicts(db: Store['db'], approvalId: string): Promise<ReadonlyMap<string, Advice>> {
  const rows = await db
    .selectFrom('verdicts')
    .select(['call_id', 'risk_level', 'confidence', 'recommendation'])
    .where('approval_id', '=', approvalId)
    .where('tier', '=', 'llm')
    .execute();
  return new Map(
    rows.map(({ call_id, risk_level: level, confidence, recommendation }) => [
      call_id,
      { level, confidence, recommendation },
    ]),
  );
}

/** The whole verdicts of models about calls that wait, by the ids of their questions. */
export async function pendingModelVerdicts(store: Readable): Promise<ReadonlyMap<string | null, ModelVerdict[]>> {
  const read = storedReader(store);
  const rows = await store.db
    .selectFrom('verdicts')
    .innerJoin('approvals', 'approvals.approval_id', 'verdicts.approval_id')
    .selectAll('verdicts')
    .where('approvals.status', '=', 'pending')
    .where('verdicts.tier', '=', 'llm')
    .orderBy('verdicts.created_ms')
    .orderBy('verdicts.verdict_id')
    .execute();
  const grouped = Map.groupBy(rows, ({ approval_id }) => approval_id);
  return new Map([...grouped].map(([id, some]) => [id, some.map((row) => toModelVerdict(row, read))]));
}

/** Stores with the verdicts of a question how each call was decided about. */
export const decideVerdicts = (settled: NonNullable<Step['settled']>): Statement => ({
  sql: `UPDATE verdicts SET user_decision = CASE WHEN call_id IN (SELECT value FROM json_each(?)) THEN 'denied' ELSE ? END
        WHERE approval_id = ? AND user_decision = ?`,
  parameters: [JSON.stringify(settled.deniedCallIds ?? []), wordFor(settled), settled.approvalId, PENDING],
});

const wordFor = ({ status, by }: NonNullable<Step['settled']>): string => {
  if (status === 'expired') return 'timeout';
  return status === 'approved' && by.kind === 'judge' ? 'smart_approval' : status;
};

type Asked = Params<'verdict.list'> & { limit: number; offset: number; viewer: Viewer };
type Readable = Pick<Store, 'db' | 'reportDamage'>;

/** The verdicts about calls of the workstreams that the viewer perceives, newest first. */
export async function listVerdicts(store: Readable, asked: Asked): Promise<Result<'verdict.list'>> {
  const chosen = choose(store.db, asked);
  const read = storedReader(store);
  const [rows, counted] = await Promise.all([
    chosen
      .selectAll('verdicts')
      .orderBy('verdicts.created_ms', 'desc')
      .orderBy('verdicts.verdict_id', 'desc')
      .limit(asked.limit)
      .offset(asked.offset)
      .execute(),
    chosen.select(({ fn }) => fn.countAll<number>().as('total')).executeTakeFirst(),
  ]);
  return { verdicts: rows.map((row) => toVerdict(row, read)), total: Number(counted?.total ?? 0) };
}

function choose(db: Store['db'], { wsId, sinceMs, untilMs, riskLevel, viewer }: Asked) {
  let chosen = db
    .selectFrom('verdicts')
    .innerJoin('workstreams', 'workstreams.ws_id', 'verdicts.ws_id')
    .where('workstreams.loaded', '!=', DELETED)
    .where(perceivedBy(viewer));
  if (wsId !== undefined) chosen = chosen.where('verdicts.ws_id', '=', wsId);
  if (sinceMs !== undefined) chosen = chosen.where('verdicts.created_ms', '>=', sinceMs);
  if (untilMs !== undefined) chosen = chosen.where('verdicts.created_ms', '<=', untilMs);
  if (riskLevel !== undefined) chosen = chosen.where('verdicts.risk_level', '=', riskLevel);
  return chosen;
}

const toModelVerdict = (row: VerdictTable, read: ReadStored): ModelVerdict => ({
  verdict_id: row.verdict_id,
  call_id: row.call_id,
  func_name: row.func_name,
  intent_summary: row.intent_summary,
  risk_level: row.risk_level,
  confidence: row.confidence,
  recommendation: row.recommendation,
  reasoning: row.reasoning,
  evidence: evidenceOf(row, read),
  tier: 'llm',
  judge_model: row.judge_model,
  latency_ms: row.latency_ms,
});

const evidenceOf = ({ evidence_json: json, verdict_id: id }: VerdictTable, read: ReadStored): string[] =>
  read(json, `the evidence of verdict ${id}`, isListOf(isText)) ?? [];

const toVerdict = (row: VerdictTable, read: ReadStored): Result<'verdict.list'>['verdicts'][number] => ({
  verdictId: row.verdict_id,
  wsId: row.ws_id,
  callId: row.call_id,
  tool: row.func_name,
  arguments: row.func_args,
  summary: row.intent_summary,
  riskLevel: row.risk_level,
  confidence: row.confidence,
  recommendation: row.recommendation,
  reasoning: row.reasoning,
  evidence: evidenceOf(row, read),
  tier: row.tier,
  judgeModel: row.judge_model,
  latencyMs: row.latency_ms,
  decision: row.user_decision,
  createdAtMs: row.created_ms,
});
