import type { RunOutcome } from '../../../protocol/run-outcome.ts';
import type { Message } from '../../agent/message.ts';
import type { JournalEntry } from '../../agent/run/journal.ts';
import {
  countStarted,
  type NewApproval,
  RunSuperseded,
  type SteeredMessage,
  type Step,
  StepOutdated,
} from '../../agent/run/recorder.ts';
import { endRun } from '../answers/end-rows.ts';
import { insertAssessments } from '../assessments/assessment-rows.ts';
import { consume, insertConsumed, release } from '../attachments/attachment-rows.ts';
import { markTold } from '../background/background-rows.ts';
import { deliverAnswer } from '../channels/answer-delivery.ts';
import { askChat, tellChat } from '../channels/question-text.ts';
import { markFailed } from '../history/failed-rows.ts';
import { decideVerdicts, insertVerdicts } from '../judge/verdict-rows.ts';
import { spenderOf } from '../queue/authors.ts';
import type { Owned } from '../sharing/perception.ts';
import type { RunTable } from '../store/schema/schema.ts';
import { build, statementOf } from '../store/statements.ts';
import { type Statement, UnitRefused } from '../store/store.ts';
import { storeOpening } from '../templates/opening-prompts.ts';
import { chargeBrokenOff, forgetReservation, reserve } from '../usage/reservation-rows.ts';
import { addUsage } from '../usage/usage-rows.ts';
import { storePrefix } from './prefix-rows.ts';
import type { RunRecord, RunRequest } from './run-record.ts';
import { storeTrust } from './trust-rows.ts';

/*
 * The statements of a run. Plain SQL where every model turn passes several times; the builder elsewhere.
 */

/** Names the statement that is refused when the run was superseded. */
const RUN_FENCE = 'run fence';

/** Named, so that its refusal can be recognised. */
const FENCE_SQL = 'UPDATE workstreams SET updated_ms = ? WHERE ws_id = ? AND run_epoch = ?';
const FENCE_AND_USAGE_SQL = 'UPDATE workstreams SET updated_ms = ?, usage_json = ? WHERE ws_id = ? AND run_epoch = ?';

/** Refuses the whole unit when the workstream has a newer epoch. Also sets its `updated_ms`, and what its last turn used. */
export function fence({ wsId, epoch }: RunRecord, nowMs: number, spent?: Step['usage']): Statement {
  const always = { tag: RUN_FENCE, expect: 1 };
  if (!spent) return { sql: FENCE_SQL, parameters: [nowMs, wsId, epoch], ...always };
  const { usage, contextWindow, afterSeq } = spent;
  const used = JSON.stringify({ usage, contextWindow, afterSeq });
  return { sql: FENCE_AND_USAGE_SQL, parameters: [nowMs, used, wsId, epoch], ...always };
}

/** What a refused unit means for its run. */
export function toRunError(error: unknown): unknown {
  if (!(error instanceof UnitRefused)) return error;
  if (error.tag === RUN_FENCE) return new RunSuperseded('the run was taken over', { cause: error });
  return new StepOutdated('something else was settled first', { cause: error });
}

/** All statements of a step except its events and its fence. */
export function stepStatements(run: RunRecord, step: Step, nowMs: number): Statement[] {
  const at = { wsId: run.wsId, runId: run.runId, nowMs };
  return [
    ...(step.settled ? settleApproval(run, step.settled, nowMs) : []),
    ...(step.journal ?? []).map((entry) => insertJournal(run, entry, nowMs)),
    ...(step.steered ?? []).flatMap((steered) => takeOver(run, steered, nowMs)),
    ...countCalls(run.wsId, countStarted(step)),
    ...(step.messages ?? []).flatMap((message) => insertMessage(at, message)),
    ...insertImages(run, step.attachments, nowMs),
    ...(step.approval ? insertApproval(run, step.approval, nowMs) : []),
    ...insertAssessments(run.wsId, step.assessments, nowMs),
    ...(step.verdicts ? insertVerdicts(run.wsId, step.verdicts, nowMs) : []),
    ...(step.summarized ? [addUsage(spenderOf(run), step.summarized, nowMs), forgetReservation(run.runId)] : []),
    ...(step.reserved ? [reserve(spenderOf(run), step.reserved, nowMs)] : []),
    ...(step.usage ? usageStatements(run, { ...step.usage, toolCalls: callsIn(step) }, nowMs) : []),
    ...(step.prefix ? [storePrefix(run.wsId, step.prefix), storeOpening(run.wsId, step.prefix.templates)] : []),
    ...(step.trust ? storeTrust(run.wsId, step.trust, nowMs) : []),
    ...markTold(step.told),
    ...(step.ended ? endStatements(run, step.ended, nowMs) : []),
  ];
}

/** Images that tools have read. */
const insertImages = (run: RunRecord, images: Step['attachments'] = [], nowMs: number): Statement[] =>
  images.map((attachment) => insertConsumed({ attachment, wsId: run.wsId, principal: run.principal, nowMs }));

const countCalls = (wsId: string, started: number): Statement[] =>
  started === 0
    ? []
    : [{ sql: 'UPDATE workstreams SET tool_calls = tool_calls + ? WHERE ws_id = ?', parameters: [started, wsId] }];

/** The tool calls of the answer that is stored with its usage. */
const callsIn = ({ messages = [] }: Step): number =>
  messages.reduce((sum, message) => sum + (message.role === 'assistant' ? message.toolCalls.length : 0), 0);

type SpentTurn = NonNullable<Step['usage']> & { toolCalls: number };

const usageStatements = (run: RunRecord, spent: SpentTurn, nowMs: number): Statement[] => [
  addUsage(spenderOf(run), spent, nowMs),
  forgetReservation(run.runId),
];

const endStatements = (run: RunRecord, ended: NonNullable<Step['ended']>, nowMs: number): Statement[] => [
  endRun(run.runId, ended, nowMs),
  ...chargeBrokenOff([run.runId]),
  setWorkstream(run.wsId, { last_run_status: ended.status }),
  ...(ended.failed ? markFailed(run, ended.failed) : []),
  ...deliverAnswer(run, ended, nowMs),
];

export const insertJournal = ({ runId }: { runId: string }, entry: JournalEntry, nowMs: number): Statement => {
  const { kind, ...body } = entry;
  return {
    sql: `INSERT INTO journal (run_id, seq, kind, body_json, at_ms)
          SELECT ?, COALESCE(MAX(seq), 0) + 1, ?, ?, ? FROM journal WHERE run_id = ?`,
    parameters: [runId, kind, JSON.stringify(body), nowMs, runId],
  };
};

/** Adds the message with the next number of its workstream. */
export const insertMessage = (
  at: { wsId: string; runId: string | null; nowMs: number },
  message: Message,
): Statement[] => [
  {
    sql: `INSERT INTO messages (ws_id, seq, run_id, body_json, created_ms, checksum)
          SELECT ws_id, message_count + 1, ?1, ?2, ?3, message_checksum(ws_id, message_count + 1, ?1, ?2, ?3)
          FROM workstreams WHERE ws_id = ?4`,
    parameters: [at.runId, JSON.stringify(message), at.nowMs, at.wsId],
    expect: 1,
  },
  { sql: 'UPDATE workstreams SET message_count = message_count + 1 WHERE ws_id = ?', parameters: [at.wsId] },
];

export const insertRun = (run: RunRecord, status: 'queued' | 'running'): Statement => ({
  sql: `INSERT INTO runs (run_id, ws_id, principal, run_key, source, status, request_json, epoch, accepted_ms, started_ms)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  parameters: [
    run.runId,
    run.wsId,
    run.principal,
    run.runKey ?? null,
    run.source,
    status,
    JSON.stringify(run.request),
    run.epoch,
    run.acceptedMs,
    status === 'running' ? run.acceptedMs : null,
  ],
  expect: 1,
});

export const startRun = (run: RunRecord, nowMs: number): Statement =>
  statementOf(
    build
      .updateTable('runs')
      .set({ status: 'running', started_ms: nowMs, epoch: run.epoch })
      .where('run_id', '=', run.runId)
      .where('status', '=', 'queued'),
    1,
  );

/** Records the end of a run that never began. */
export const cancelQueuedRun = (run: RunRecord, nowMs: number): Statement[] => [
  insertJournal(run, { kind: 'ended', status: 'cancelled' }, nowMs),
  endRun(run.runId, { run_id: run.runId, status: 'cancelled', summary: 'cancelled' }, nowMs),
  ...(run.request.attachments ? [release(run.runId)] : []),
];

/**
 * Ends a waiting run whose message another run takes. From then on, that run has the lesser rights of its authors (decision 18).
 * Refused when the message no longer waits.
 */
const takeOver = (by: RunRecord, { runId, message }: SteeredMessage, nowMs: number): Statement[] => [
  {
    sql: `UPDATE runs SET status = 'ok', summary = '', ended_ms = ?1, request_json = json_set(request_json, '$.steeredInto', ?2)
          WHERE run_id = ?3 AND status = 'queued'`,
    parameters: [nowMs, by.runId, runId],
    expect: 1,
  },
  insertJournal({ runId }, { kind: 'ended', status: 'ok' }, nowMs),
  ...(message.attachments ? [consume(runId, message.attachments.length)] : []),
  ...(message.trusted
    ? []
    : [
        {
          sql: `UPDATE runs SET request_json = json_set(request_json, '$.rights', 'write') WHERE run_id = ? AND json_extract(request_json, '$.rights') = 'approve'`,
          parameters: [by.runId],
        },
      ]),
];

/** Records the failure of a run that never began. */
export const failQueuedRun = (run: RunRecord, error: string, nowMs: number): Statement[] => [
  insertJournal(run, { kind: 'ended', status: 'error' }, nowMs),
  endRun(run.runId, { run_id: run.runId, status: 'error', error, summary: error }, nowMs),
  release(run.runId),
];

/** Undefined for a request that is damaged in the database. */
export function requestOf({ request_json }: Pick<RunTable, 'request_json'>): RunRequest | undefined {
  try {
    const request: RunRequest | null = JSON.parse(request_json);
    return typeof request?.message === 'string' ? request : undefined;
  } catch {
    return undefined; // not JSON
  }
}

/** Stands for a request that is damaged in the database. */
export const LOST_REQUEST: RunRequest = { message: '' };

/** A question that several runs share is stored once. */
const insertApproval = (run: RunRecord, approval: NewApproval, nowMs: number): Statement[] => {
  if (approval.isJoined) return [];
  const insert = statementOf(
    build.insertInto('approvals').values({
      approval_id: approval.approvalId,
      ws_id: run.wsId,
      run_id: run.runId,
      kind: approval.kind,
      status: 'pending',
      items_json: JSON.stringify(approval.items),
      digests_json: JSON.stringify(approval.digests),
      feedback: null,
      always: 0,
      decided_by: null,
      asked_ms: nowMs,
      expires_ms: approval.expiresAtMs,
      decided_ms: null,
    }),
    1,
  );
  return [insert, ...askChat(run, approval, nowMs)];
};

/** Records a decision; refused when the approval is no longer pending. */
const settleApproval = (run: RunRecord, settled: NonNullable<Step['settled']>, nowMs: number): Statement[] => {
  if (settled.isElsewhere) return [];
  const settle = statementOf(
    build
      .updateTable('approvals')
      .set({
        status: settled.status,
        feedback: settled.feedback,
        always: settled.always ? 1 : 0,
        decided_by: settled.by.kind === 'principal' ? settled.by.id : settled.by.kind,
        decided_ms: nowMs,
      })
      .where('approval_id', '=', settled.approvalId)
      .where('status', '=', 'pending'),
    1,
  );
  return [settle, decideVerdicts(settled), ...tellChat(run, settled, nowMs)];
};

export const setWorkstream = (wsId: string, values: Partial<WorkstreamValues>): Statement => {
  const columns = Object.keys(values).map((column) => `${column} = ?`);
  return {
    sql: `UPDATE workstreams SET ${columns.join(', ')} WHERE ws_id = ?`,
    parameters: [...Object.values(values), wsId],
    expect: 1,
  };
};

/** Columns of a workstream that change individually. */
export interface WorkstreamValues {
  session_key: null;
  alias: string | null;
  generated_name: string;
  title: string | null;
  model_alias: string | null;
  always_by: string | null;
  always_until_ms: number | null;
  always_tools_json: string | null;
  thinking_level: string | null;
  verbose_level: string | null;
  workdir: string;
  workdir_ino: string | null;
  readable_json: string;
  loaded: 0 | 1 | 2;
  context_after_seq: number;
  cut_count: number;
  usage_json: string | null;
  run_epoch: number;
  last_run_status: RunOutcome['status'];
  updated_ms: number;
  owner_id: string;
  visibility: Owned['visibility'];
}
