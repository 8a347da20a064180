import type { ApprovalTable, RunTable } from '../../../src/gateway/store/schema/schema.ts';
import type { Answer, CallHistory, Evidence, Finding, WorkstreamOnDisk } from '../evidence.ts';
import { resentRunsOf } from './cuts.ts';

const SENDS: ReadonlySet<string> = new Set(['workstream.send', 'agent', 'chat.send']);

/** A message answered with a run has that run, and an answer reports the true end of the run (I4, promise 3). */
export function* acknowledged({ disk, calls }: Evidence): Generator<Finding> {
  const all = disk.workstreams.flatMap(({ runs }) => runs.map(({ run }) => [run.run_id, run] as const));
  const runs = new Map(all);
  for (const { call, answer } of answersOf(calls)) {
    const { runId } = saidIn(answer);
    if (!SENDS.has(call.method) || runId === undefined) continue;
    const what = misfit({ call, answer }, runs.get(runId));
    const { wsId, idempotencyKey, message } = call.params;
    if (what !== undefined) yield { what: `${runId}: ${what}`, where: `${wsId} ${idempotencyKey ?? message}` };
  }
}

interface Answered {
  call: CallHistory;
  answer: Answer;
}

const answersOf = (calls: readonly CallHistory[]): Answered[] =>
  calls.flatMap((call) => call.answers.map((answer) => ({ call, answer })));

/** The types follow from the contracts of the sending methods. */
const saidIn = ({ payload }: Answer) => (payload ?? {}) as { runId?: string; status?: string };

function misfit({ call, answer }: Answered, run: RunTable | undefined): string | undefined {
  if (!run) return 'was accepted, but is not stored';
  if (run.ws_id !== call.params.wsId || messageOf(run) !== call.params.message) return 'is the run of another message';
  const { status } = saidIn(answer);
  const isEnd = call.method !== 'workstream.send' && (status === 'ok' || status === 'error');
  if (!isEnd || (run.ended_ms !== null && (status === 'ok') === (run.status === 'ok'))) return undefined;
  return `was answered ${status}, but is ${run.status}`;
}

export const messageOf = (run: RunTable): string => JSON.parse(run.request_json).message;

/** All attempts with one key have one effect and get the same run. */
export function* oneAnswerPerKey({ disk, calls }: Evidence): Generator<Finding> {
  const runs = Map.groupBy(disk.workstreams.flatMap(firstRuns), (run) => nameOf(run.ws_id, messageOf(run)));
  for (const [where, attempts] of attemptsByKey(calls)) {
    const [first] = attempts;
    const named = new Set(answersOf(attempts).flatMap(({ answer }) => saidIn(answer).runId ?? []));
    const count = runs.get(nameOf(first?.params.wsId, first?.params.message))?.length ?? 0;
    if (named.size > 1) yield { what: `was answered with ${[...named].join(' and ')}`, where };
    if (count > 1) yield { what: `its message has ${count} runs`, where };
    if (count > 0 && attempts.every(isRefused)) yield { what: 'was refused every time, but has a run', where };
  }
}

/** Without those that send a message again. */
export function firstRuns(workstream: WorkstreamOnDisk): RunTable[] {
  const resent = resentRunsOf(workstream);
  return workstream.runs.flatMap(({ run }) => (resent.has(run.run_id) ? [] : [run]));
}

/** Identifies a message: each key is used with its own text. */
const nameOf = (wsId = '', message = ''): string => `${wsId} ${message}`;

const attemptsByKey = (calls: readonly CallHistory[]): Map<string, CallHistory[]> =>
  Map.groupBy(
    calls.filter(({ method, params }) => SENDS.has(method) && params.idempotencyKey !== undefined),
    ({ method, params }) => `${method} ${params.idempotencyKey}`,
  );

/** Busy, or an error before acceptance: the call had no effect. */
const isRefused = ({ answers }: CallHistory): boolean =>
  answers.length > 0 && answers.every((answer) => saidIn(answer).runId === undefined);

/** A successfully answered decision is the stored one; a decision that came too late found another. */
export function* decisionsKept({ disk, calls }: Evidence): Generator<Finding> {
  const all = disk.workstreams.flatMap(({ approvals }) => approvals.map((row) => [row.approval_id, row] as const));
  const approvals = new Map(all);
  for (const answered of answersOf(calls)) {
    const { wsId, approvalId } = answered.call.params;
    if (approvalId === undefined) continue;
    const what = wrongDecision(answered, approvals.get(approvalId));
    if (what !== undefined) yield { what, where: `${wsId} ${approvalId}` };
  }
}

function wrongDecision({ call, answer }: Answered, approval: ApprovalTable | undefined): string | undefined {
  const { approved, feedback = '' } = call.params;
  const status = approval?.status ?? 'not stored';
  if (answer.code === 'CONFLICT') return status === 'pending' ? 'was reported as decided, but is pending' : undefined;
  const isAsSaid = status === (approved ? 'approved' : 'denied') && approval?.feedback === feedback;
  return answer.ok && !isAsSaid ? `was decided by a call and is ${status}` : undefined;
}

/**
 * Everything accepted before a cancel was sent has ended when the cancel is answered. While nothing can be stored, the record
 * of the end follows, or is lost with the process (decision 29).
 */
export function* cancelled({ disk, calls, outages = [] }: Evidence): Generator<Finding> {
  const workstreams = new Map(disk.workstreams.map((workstream) => [workstream.wsId, workstream]));
  for (const { call, answer } of answersOf(calls)) {
    const { wsId } = call.params;
    const isLater = outages.some(({ fromMs, toMs }) => call.sentMs < toMs && answer.atMs > fromMs);
    const isCancel = call.method === 'workstream.cancel' && answer.ok && !isLater;
    const runs = isCancel ? workstreams.get(wsId)?.runs : [];
    for (const { run } of runs ?? []) {
      const endedMs = run.ended_ms ?? Number.POSITIVE_INFINITY;
      if (run.accepted_ms >= call.sentMs || endedMs <= answer.atMs) continue;
      yield { what: `${run.run_id} continued after a cancel was answered`, where: wsId };
    }
  }
}
