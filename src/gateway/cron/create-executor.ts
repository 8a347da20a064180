import { GatewayError } from '../../../protocol/errors.ts';
import { RunSuperseded, StepOutdated } from '../../agent/run/recorder.ts';
import type { Begun, Executor } from '../../cron/executor.ts';
import type { Job } from '../../cron/jobs/job.ts';
import type { Claim } from '../../cron/occurrence.ts';
import { UnitRefused } from '../store/store.ts';
import type { Heartbeats } from '../wake/heartbeats.ts';
import type { SystemEvents } from '../wake/system-events.ts';
import { MAIN } from '../workstreams/session-keys.ts';
import { createIsolatedTurns, type IsolatedTurnDeps } from './isolated-turns.ts';
import { sessionKeyOf } from './job-session.ts';
import { CLAIM, startStatements } from './occurrence-rows.ts';

export interface ExecutorDeps extends IsolatedTurnDeps {
  systemEvents: Pick<SystemEvents, 'add'>;
  heartbeats: Pick<Heartbeats, 'wake'>;
}

/** Lets jobs do what they are for: tell the main session something, or ask the agent in a session of their own. */
export function createExecutor(deps: ExecutorDeps): Executor {
  const { systemEvents, heartbeats, owner, clock } = deps;
  const turns = createIsolatedTurns(deps);

  /** The text is queued with the start, so once it has started it is done. */
  async function tellMain({ id, wakeMode }: Job, text: string, claim: Claim): Promise<Begun> {
    const wakes = sessionKeyOf(id);
    const nowMs = clock.now();
    await systemEvents.add(text, {
      rights: 'approve', // jobs are made by callers who may approve
      also: startStatements(claim, { owner, nowMs, sessionKey: MAIN }),
      ...(wakeMode === 'now' && { wakes }),
    });
    if (wakeMode === 'now') heartbeats.wake(wakes);
    return told(text, nowMs);
  }

  return {
    async begin(job, claim) {
      const { payload } = job;
      try {
        return await (payload.kind === 'systemEvent'
          ? tellMain(job, payload.text, claim)
          : turns.begin(job, payload, claim));
      } catch (error) {
        if (isClaimLost(error)) return undefined;
        throw isRefusal(error)
          ? new GatewayError('UNAVAILABLE', 'Something else came between', { cause: error })
          : error;
      }
    },
    async resume({ id, payload }, { runId, startedMs = clock.now() }) {
      if (runId !== undefined) return turns.resume(id, { runId, startedMs });
      return payload.kind === 'systemEvent' ? told(payload.text, startedMs) : undefined;
    },
  };
}

/** Something that the start is committed with was settled in the same moment (a turn was cancelled by force). */
const isRefusal = (error: unknown): boolean =>
  error instanceof UnitRefused || error instanceof StepOutdated || error instanceof RunSuperseded;

const told = (text: string, startedMs: number): Begun => ({
  startedMs,
  ended: Promise.resolve({ status: 'ok', summary: text }),
  stop: () => undefined, // it is over
});

/** What was to be begun was refused because the claim has gone to somebody else, or was begun already. */
export function isClaimLost(error: unknown): boolean {
  if (error instanceof UnitRefused) return error.tag === CLAIM;
  return error instanceof Error && error.cause !== undefined && isClaimLost(error.cause); // as a run says it
}
