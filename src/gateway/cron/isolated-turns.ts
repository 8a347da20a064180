import type { CronPayload } from '../../../protocol/cron.ts';
import { GatewayError } from '../../../protocol/errors.ts';
import type { Message } from '../../agent/message.ts';
import { taintIn } from '../../agent/run/approval/taint.ts';
import { StopReason } from '../../agent/stop-reason.ts';
import type { Clock } from '../../clock.ts';
import type { Begun } from '../../cron/executor.ts';
import type { Job } from '../../cron/jobs/job.ts';
import type { Claim } from '../../cron/occurrence.ts';
import type { Log } from '../../log.ts';
import type { Channels } from '../channels/channels.ts';
import { resolveDelivery } from '../channels/run-delivery.ts';
import type { Commands } from '../commands/commands.ts';
import type { RunHandle, RunRequest } from '../runs/run-record.ts';
import type { Runs } from '../runs/runs.ts';
import { ANYONE, DAEMON, OF_EVERYONE, seesEverything, type Viewer } from '../sharing/perception.ts';
import type { Store } from '../store/store.ts';
import { hasForeignText } from '../workstreams/always.ts';
import { NoRoom } from '../workstreams/closing.ts';
import { jobKeyOf, MAIN } from '../workstreams/session-keys.ts';
import { effortOfLevel } from '../workstreams/thinking-level.ts';
import type { Workstream } from '../workstreams/workstream.ts';
import { readByKeyAnywhere } from '../workstreams/workstream-rows.ts';
import type { Workstreams } from '../workstreams/workstreams.ts';
import { startStatements } from './occurrence-rows.ts';
import { toOutcome } from './turn-outcome.ts';

export interface IsolatedTurnDeps {
  workstreams: Pick<Workstreams, 'obtainByKey' | 'lookUp' | 'find'>;
  runs: Pick<Runs, 'accept' | 'find'>;
  commands: Pick<Commands, 'clear' | 'clearIf'>;
  channels: Channels;
  /** What a principal perceives now. */
  viewerOf(principalId: string): Viewer;
  store: Pick<Store, 'db' | 'commit' | 'readMessages' | 'reportDamage'>;
  clock: Pick<Clock, 'now'>;
  log: Log;
  /** The scheduler in whose name starts are recorded. */
  owner: string;
}

type JobRequest = Omit<RunRequest, 'message' | 'rights' | 'attachments'>;
type AgentTurn = Extract<CronPayload, { kind: 'agentTurn' }>;

const DEFAULT_TIMEOUT_SECS = 600;
/** A session that was idle for longer starts with an empty context. */
const IDLE_MS = 60 * 60_000;

/** Agent turns in the sessions of jobs. */
export function createIsolatedTurns(deps: IsolatedTurnDeps) {
  const { runs, commands, store, clock, owner } = deps;

  /** Records a failed attempt for a turn that cannot run as configured. The agent is not called. */
  async function fail(claim: Claim, error: string): Promise<Begun> {
    const nowMs = clock.now();
    await store.commit({ statements: startStatements(claim, { owner, nowMs }) });
    return { startedMs: nowMs, ended: Promise.resolve({ status: 'error', error }), stop: () => undefined };
  }

  return {
    /** Rejects with UnitRefused, directly or as a cause, when the claim is lost. */
    async begin(job: Job, turn: AgentTurn, claim: Claim): Promise<Begun> {
      let request: JobRequest;
      try {
        request = await toRequest(job, turn, deps);
      } catch (error) {
        if (error instanceof GatewayError && !error.retryable) return fail(claim, error.message);
        throw error;
      }
      const sessionKey = jobKeyOf(job.id);
      const workstream = await obtain(sessionKey, deps);
      if (isStale(workstream, clock.now())) await commands.clear(workstream); // not while it is in use
      await commands.clearIf(workstream, (context) => reasonToClear(job, workstream, context));
      const nowMs = clock.now();
      const handle = await runs.accept(workstream, {
        message: `[cron:${job.id} ${job.name}] ${turn.message}`,
        principal: sessionKey,
        rights: job.rights ?? 'approve', // of whoever wrote the message
        source: 'cron',
        request,
        also: (runId) => startStatements(claim, { owner, nowMs, runId, sessionKey }),
      });
      return toBegun(handle, nowMs, deps);
    },
    /** Undefined when the run no longer exists. */
    async resume(
      jobId: string,
      { runId, startedMs }: { runId: string; startedMs: number },
    ): Promise<Begun | undefined> {
      const handle = await runs.find(runId, { principal: jobKeyOf(jobId), viewer: DAEMON });
      return handle && toBegun(handle, startedMs, deps);
    },
  };
}

async function obtain(sessionKey: string, { workstreams }: IsolatedTurnDeps): Promise<Workstream> {
  try {
    return await workstreams.obtainByKey(sessionKey, DAEMON);
  } catch (error) {
    throw error instanceof NoRoom ? new GatewayError('BUSY', error.message, { cause: error }) : error;
  }
}

/** Throws GatewayError when the turn cannot run as configured. */
async function toRequest(job: Job, turn: AgentTurn, deps: IsolatedTurnDeps): Promise<JobRequest> {
  return {
    unattended: true,
    ...(turn.thinking !== undefined && { effort: effortOfLevel(turn.thinking) }),
    timeoutMs: (turn.timeoutSeconds ?? DEFAULT_TIMEOUT_SECS) * 1_000,
    approval: job.approval,
    ...(await toDelivery(job, turn, deps)),
  };
}

async function toDelivery(
  job: Job,
  turn: AgentTurn,
  deps: IsolatedTurnDeps,
): Promise<Pick<RunRequest, 'deliver' | 'undeliverable'>> {
  try {
    const deliver = turn.deliver ? await resolve(job, turn, deps) : undefined;
    return deliver ? { deliver } : {};
  } catch (error) {
    if (!turn.bestEffortDeliver || !(error instanceof GatewayError) || error.retryable) throw error;
    return { undeliverable: error.message };
  }
}

/**
 * Without `to`: the chat from which people last wrote to the job's session, or to the main session, which also reads the
 * results of jobs; else the last place of the job's session, or a direct chat of the person who set the destination.
 */
async function resolve({ id, sender }: Job, turn: AgentTurn, deps: IsolatedTurnDeps) {
  const { workstreams, viewerOf } = deps;
  const own = await workstreams.lookUp(jobKeyOf(id), DAEMON);
  const main = await workstreams.lookUp(MAIN, ANYONE, { read: readByKeyAnywhere });
  const setter = sender === undefined ? undefined : viewerOf(sender);
  const ownerId = setter && (setter.userId ?? (seesEverything(setter) ? OF_EVERYONE.ownerId : undefined));
  // Everyone may read the job.
  const asked = { ...turn, viewer: ANYONE, wsId: own?.wsId, elseWsId: main?.wsId, ownerId };
  try {
    return await resolveDelivery(asked, deps);
  } catch (error) {
    if (setter === undefined || !(error instanceof GatewayError) || error.code !== 'NOT_FOUND') throw error;
    // A chat is mostly private. The other workstreams of a person are nothing for jobs (decision 62).
    const found = await resolveDelivery({ ...asked, viewer: setter }, deps);
    if (found?.provider === 'workstream') throw error;
    return found;
  }
}

const FOREIGN_TEXT =
  'The context was cleared: a caller without the approve scope had written in this conversation, and this job runs tools without approval.';
const UNTRUSTED_TEXT =
  'The context was cleared: an earlier run had read something untrusted. Calls that reach further would ask because of it, and nobody may be there to answer.';

/** Why the run must not read what was before: its message is no message of a person, which would end the taint. */
async function reasonToClear({ approval }: Job, workstream: Workstream, context: readonly Message[]) {
  if (approval.mode === 'allow' && hasForeignText(context)) {
    await workstream.endBackground('reset'); // its watches would bring such text again
    return FOREIGN_TEXT;
  }
  const taint = taintIn(context);
  return taint === undefined || taint.kind === 'message' ? undefined : UNTRUSTED_TEXT;
}

const isStale = ({ data }: Workstream, nowMs: number): boolean =>
  data.messageCount > data.contextAfterSeq && nowMs - data.updatedMs > IDLE_MS;

function toBegun(handle: RunHandle, startedMs: number, { workstreams, store, log }: IsolatedTurnDeps): Begun {
  const { runId, wsId } = handle.run;
  let stoppedFor: string | undefined;
  return {
    startedMs,
    ended: toOutcome(handle, { store, stoppedFor: () => stoppedFor }),
    stop(reason) {
      stoppedFor ??= reason;
      const stopped = workstreams.find(wsId, DAEMON)?.cancelRun(runId, new StopReason('cancel', reason));
      stopped?.catch((err: unknown) => log.error({ err, runId }, 'a run of a job could not be stopped'));
    },
  };
}
