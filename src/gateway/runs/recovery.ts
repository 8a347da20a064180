import type { ApprovalItem } from '../../../protocol/events/approval-item.ts';
import { isRecord } from '../../../protocol/is-record.ts';
import type { BudgetQuestion } from '../../../protocol/run-outcome.ts';
import type { WorkstreamState } from '../../../protocol/stream-events.ts';
import { expiryAfterRestart } from '../../agent/run/approval/approval-expiry.ts';
import type { Decision, JournalEntry, Progress } from '../../agent/run/journal.ts';
import { advance, newProgress, pendingApproval } from '../../agent/run/journal.ts';
import type { NewApproval } from '../../agent/run/recorder.ts';
import type { ProcessIdentity } from '../../agent/tools/tool.ts';
import { endOfDay } from '../../day.ts';
import { isUnavailable } from '../../is-unavailable.ts';
import type { Log } from '../../log.ts';
import { adoptAgents } from '../agents/adopt-agents.ts';
import { DamagedRow } from '../store/row-checksum.ts';
import type { ApprovalTable, JournalTable, RunTable } from '../store/schema/schema.ts';
import { build, statementOf } from '../store/statements.ts';
import type { Store } from '../store/store.ts';
import { isListOf, isText, storedReader } from '../store/stored-value.ts';
import { inHosted } from '../workers/elsewhere.ts';
import type { WorkstreamData } from '../workstreams/workstream-data.ts';
import type { AdoptedRun, RunRequest } from './run-record.ts';
import { failQueuedRun, LOST_REQUEST, requestOf } from './run-rows.ts';

export interface RecoveryDeps {
  store: Store;
  nowMs: number;
  /** When the previous process was last known to be alive. */
  lastAliveMs: number | undefined;
  killLeftover(process: ProcessIdentity): Promise<unknown>;
  log: Log;
}

/** When the questions expire that were found so far, by their ids. */
type Expiries = Map<string, number>;

/**
 * Reads the runs that the previous process left unfinished, kills its leftover processes, and closes interrupted
 * answers (`stream_end {interrupted}`) before any client is served. `Workstream.adopt` continues the runs.
 */
export async function recoverRuns(deps: RecoveryDeps): Promise<Map<string, AdoptedRun[]>> {
  const { store } = deps;
  const rows = await store.db
    .selectFrom('runs')
    .selectAll()
    .where('status', 'in', ['queued', 'running'])
    .where(inHosted(store))
    .orderBy('status', 'desc') // running before queued
    .orderBy('accepted_ms')
    .execute();
  const recovered = new Map<string, AdoptedRun[]>();
  const expiries: Expiries = new Map();
  for (const row of rows) {
    const adopted = await adoptedOf(row, deps, expiries);
    if (!adopted) continue;
    recovered.set(row.ws_id, [...(recovered.get(row.ws_id) ?? []), adopted]);
    const { phase } = adopted.progress;
    deps.log.info({ runId: row.run_id, wsId: row.ws_id, phase }, 'a run of the last process continues');
  }
  return recovered;
}

/**
 * Damage to a part of the database ends only the runs whose data lies in it. Undefined for a waiting run that was ended
 * here, because its message is lost.
 */
async function adoptedOf(row: RunTable, deps: RecoveryDeps, expiries: Expiries): Promise<AdoptedRun | undefined> {
  const request = requestOf(row);
  if (!request) reportDamage(new DamagedRow(`the request of run ${row.run_id} is altered`), row, deps);
  if (!request && row.status === 'queued') return endUnsendable(row, deps);
  const run = toRecord(row, request);
  try {
    const restore = (runId: string) => restored(runId, deps, expiries);
    // Their processes end in any case, also if the run cannot continue.
    const agents = await adoptAgents(row.run_id, { store: deps.store, log: deps.log, restore });
    return { run, ...(await restore(row.run_id)), agents, ...(!request && { isUnreadable: true }) };
  } catch (error) {
    if (isUnavailable(error)) throw error;
    reportDamage(error, row, deps);
    if (row.status === 'queued') return { run, progress: newProgress() };
    return { run, progress: { ...newProgress(), phase: 'started' }, agents: [], isUnreadable: true };
  }
}

/** How far a run or sub-agent has progressed, and what it waits for. */
async function restored(
  runId: string,
  deps: RecoveryDeps,
  expiries: Expiries,
): Promise<Pick<AdoptedRun, 'progress' | 'pending' | 'question'>> {
  const { progress, damage } = foldJournal(await readJournal(runId, deps));
  await killLeftovers(progress, deps);
  if (damage) throw damage;
  return { progress, ...(await questionOf(progress, deps, expiries)) };
}

function reportDamage(err: unknown, { run_id: runId, ws_id: wsId }: RunTable, { store, log }: RecoveryDeps): void {
  if (err instanceof DamagedRow) store.reportDamage(err);
  log.error({ err, runId, wsId }, 'the stored data of a run cannot be read');
}

async function endUnsendable(row: RunTable, { store, nowMs }: RecoveryDeps): Promise<undefined> {
  const reason = 'A waiting message is damaged in the database, so it was not sent';
  await store.commit({
    statements: failQueuedRun(toRecord(row, undefined), reason, nowMs),
    events: { wsId: row.ws_id, events: [{ type: 'error', message: `Error: ${reason}` }] },
  });
}

const readJournal = (runId: string, { store }: RecoveryDeps): Promise<JournalTable[]> =>
  store.db.selectFrom('journal').selectAll().where('run_id', '=', runId).orderBy('seq').execute();

/** Skips a damaged line, so that the processes named by the others can be stopped. The run cannot continue after one. */
function foldJournal(rows: readonly JournalTable[]): { progress: Progress; damage?: DamagedRow } {
  const progress = newProgress();
  let damage: DamagedRow | undefined;
  for (const { run_id, seq, kind, body_json } of rows) {
    try {
      // The generic seam between stored JSON and the entries that it was written from.
      advance(progress, { kind, ...JSON.parse(body_json) } as JournalEntry);
    } catch (cause) {
      damage ??= new DamagedRow(`line ${seq} of the journal of run ${run_id} is altered`, { cause });
    }
  }
  return { progress, ...(damage && { damage }) };
}

async function killLeftovers(progress: Progress, { killLeftover, log }: RecoveryDeps): Promise<void> {
  for (const { state, process } of progress.tools.values()) {
    if (state !== 'started' || !process) continue;
    try {
      await killLeftover(process);
    } catch (error) {
      log.warn({ err: error, pid: process.pid }, 'a process of the last daemon could not be stopped');
    }
  }
}

/** What the run waits for. Several runs may share a question; it may be answered, but not yet by all of them. */
async function questionOf(
  progress: Progress,
  { store, nowMs, lastAliveMs }: RecoveryDeps,
  expiries: Expiries,
): Promise<Pick<AdoptedRun, 'pending' | 'question'>> {
  const asked = pendingApproval(progress);
  if (!asked) return {};
  const row = await store.db
    .selectFrom('approvals')
    .selectAll()
    .where('approval_id', '=', asked.approvalId)
    .executeTakeFirst();
  if (!row) return {};
  const { approvalId, budget } = asked;
  if (budget && row.status !== 'pending') {
    return { question: { approvalId, budget, expiresAtMs: row.expires_ms, decision: decisionOf(row) } };
  }
  if (row.status !== 'pending') return {}; // it ended with its sub-agent, while the run went on
  const known = expiries.get(approvalId);
  const expiresAtMs = known ?? (await extend(row, { store, nowMs, lastAliveMs, budget }));
  expiries.set(approvalId, expiresAtMs);
  const pending = { ...toApproval(row, { expiresAtMs, store }), budget };
  return { pending, ...(budget && { question: { approvalId, budget, expiresAtMs } }) };
}

/** The downtime does not count, but a question about the budget of a day ends with the day. */
async function extend(
  row: ApprovalTable,
  { store, nowMs, lastAliveMs, budget }: Pick<RecoveryDeps, 'store' | 'nowMs' | 'lastAliveMs'> & OfBudget,
): Promise<number> {
  const interrupted = { askedMs: row.asked_ms, expiresAtMs: row.expires_ms, lastAliveMs };
  const lastMs = budget?.day === undefined ? Number.POSITIVE_INFINITY : endOfDay(budget.day);
  const expiresAtMs = Math.min(expiryAfterRestart(interrupted, nowMs), Math.max(nowMs, lastMs));
  const change = build
    .updateTable('approvals')
    .set({ expires_ms: expiresAtMs })
    .where('approval_id', '=', row.approval_id);
  await store.commit({ statements: [statementOf(change)] });
  return expiresAtMs;
}

interface OfBudget {
  budget: BudgetQuestion | undefined;
}

/** The stored answer. Nobody decided a question that was cancelled with its run. */
function decisionOf({ status, decided_by, feedback }: ApprovalTable): Decision {
  const id = decided_by ?? '';
  const isTimeout = status === 'expired';
  return {
    approved: status === 'approved',
    feedback: feedback ?? '',
    always: false,
    by: isTimeout ? { kind: 'timeout' } : status === 'cancelled' ? { kind: 'cancel' } : { kind: 'principal', id },
  };
}

/** Throws DamagedRow. */
function toApproval(
  row: ApprovalTable,
  { expiresAtMs, store }: { expiresAtMs: number; store: Pick<Store, 'reportDamage'> },
): NewApproval {
  const { approval_id: approvalId, kind } = row;
  const read = storedReader(store);
  const items = read(row.items_json, `question ${approvalId}`, areItems);
  const digests = read(row.digests_json, `question ${approvalId}`, areDigests);
  if (!items || !digests) throw new DamagedRow(`question ${approvalId} is altered`);
  return { approvalId, kind, items, digests, expiresAtMs };
}

const areItems = isListOf((value): value is ApprovalItem => isRecord(value) && isText(value.call_id));

const areDigests = (value: unknown): value is Record<string, string> =>
  isRecord(value) && Object.values(value).every(isText);

const toRecord = (row: RunTable, request: RunRequest = LOST_REQUEST): AdoptedRun['run'] => ({
  runId: row.run_id,
  wsId: row.ws_id,
  principal: row.principal,
  ...(row.run_key !== null && { runKey: row.run_key }),
  source: row.source,
  request,
  epoch: row.epoch,
  acceptedMs: row.accepted_ms,
  ...(row.started_ms !== null && { startedMs: row.started_ms }),
});

/**
 * Restores a loaded workstream to the position of its unfinished run, and closes an interrupted answer. The model is
 * asked again; clients discard the void text.
 */
export async function restoreState(data: WorkstreamData, adopted: AdoptedRun, store: Store): Promise<void> {
  const { phase, afterSeq } = adopted.progress;
  if (phase === 'queued') return;
  const isAsking = adopted.agents?.some(({ pending }) => pending !== undefined);
  data.state = isAsking ? 'attention' : stateOf(adopted.progress);
  data.turnStart =
    phase === 'started'
      ? { afterOffset: await store.findNewestEvent(data.wsId, 'user_turn'), afterSeq: data.messageCount }
      : { afterOffset: Math.max(0, (await store.findNewestEvent(data.wsId, 'thinking_start')) - 1), afterSeq };
  if (phase !== 'generating') return;
  await store.commit({ events: { wsId: data.wsId, events: [{ type: 'stream_end', interrupted: true }] } });
}

function stateOf(progress: Progress): WorkstreamState {
  if (pendingApproval(progress)) return 'attention';
  return progress.phase === 'batch' && progress.calls.length > 0 ? 'running' : 'thinking';
}
