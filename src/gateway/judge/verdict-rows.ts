import type { Result } from '../../../protocol/index.ts';
import type { NewVerdict, Step } from '../../agent/run/recorder.ts';
import { perceivedBy, type Viewer } from '../sharing/perception.ts';
import { DELETED } from '../store/deletion.ts';
import type { VerdictTable } from '../store/schema/verdict-schema.ts';
import { build, statementOf } from '../store/statements.ts';
import type { Statement, Store } from '../store/store.ts';

/** What is stored as the decision while a person is asked. */
const PENDING = 'pending';

/** Stores the verdicts of a step. */
export const insertVerdicts = (wsId: string, verdicts: readonly NewVerdict[], nowMs: number): Statement[] =>
  verdicts.map((each) => statementOf(build.insertInto('verdicts').values(toRow(wsId, each, nowMs)), 1));

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

/** Stores with the verdicts of a question how it was decided. */
export const decideVerdicts = ({ approvalId, status }: NonNullable<Step['settled']>): Statement => ({
  sql: 'UPDATE verdicts SET user_decision = ? WHERE approval_id = ? AND user_decision = ?',
  parameters: [status === 'expired' ? 'timeout' : status, approvalId, PENDING],
});

interface Asked {
  wsId?: string | undefined;
  sinceMs?: number | undefined;
  untilMs?: number | undefined;
  riskLevel?: VerdictTable['risk_level'] | undefined;
  limit: number;
  offset: number;
  viewer: Viewer;
}

/** The verdicts about calls of the workstreams that the viewer perceives, newest first. */
export async function listVerdicts(db: Store['db'], asked: Asked): Promise<Result<'verdict.list'>> {
  const chosen = choose(db, asked);
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
  return { verdicts: rows.map(toVerdict), total: Number(counted?.total ?? 0) };
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

const toVerdict = (row: VerdictTable): Result<'verdict.list'>['verdicts'][number] => ({
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
  evidence: toTexts(row.evidence_json),
  tier: row.tier,
  judgeModel: row.judge_model,
  latencyMs: row.latency_ms,
  decision: row.user_decision,
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
