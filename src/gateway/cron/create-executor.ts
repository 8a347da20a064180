import { GatewayError } from '../../../protocol/errors.ts';
import { RunSuperseded, StepOutdated } from '../../agent/run/recorder.ts';
import type { Begun, Executor } from '../../cron/executor.ts';
import type { Job } from '../../cron/jobs/job.ts';
import type { Claim } from '../../cron/occurrence.ts';
import { UnitRefused } from '../store/store.ts';
import type { MainSession } from '../wake/main-session.ts';
import { jobKeyOf, MAIN } from '../workstreams/session-keys.ts';
import { createIsolatedTurns, type IsolatedTurnDeps } from './isolated-turns.ts';
import { CLAIM, startStatements } from './occurrence-rows.ts';

export interface ExecutorDeps extends IsolatedTurnDeps {
  main: Pick<MainSession, 'tell'>;
}

/** Runs jobs: adds a text to the main session, or starts an agent turn in the job's own session. */
export function createExecutor(deps: ExecutorDeps): Executor {
  const { main, owner, clock } = deps;
  const turns = createIsolatedTurns(deps);

  /** Queues the text in the same transaction as the start, so the run is complete once it has started. */
  async function tellMain({ id, wakeMode, rights }: Job, text: string, claim: Claim): Promise<Begun> {
    const nowMs = clock.now();
    await main.tell(text, {
      rights: rights ?? 'approve', // of whoever wrote the text
      also: startStatements(claim, { owner, nowMs, sessionKey: MAIN }),
      ...(wakeMode === 'now' && { wakes: jobKeyOf(id) }),
    });
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
          ? new GatewayError('UNAVAILABLE', 'The run was superseded; retry', { cause: error })
          : error;
      }
    },
    async resume({ id, payload }, { runId, startedMs = clock.now() }) {
      if (runId !== undefined) return turns.resume(id, { runId, startedMs });
      return payload.kind === 'systemEvent' ? told(payload.text, startedMs) : undefined;
    },
  };
}

/** Something in the same transaction was settled just before (a turn was cancelled by force). */
const isRefusal = (error: unknown): boolean =>
  error instanceof UnitRefused || error instanceof StepOutdated || error instanceof RunSuperseded;

const told = (text: string, startedMs: number): Begun => ({
  startedMs,
  ended: Promise.resolve({ status: 'ok', summary: text }),
  stop: () => undefined, // the run is already over
});

/** Whether the start was refused because another scheduler took the claim, or it was begun before. */
export function isClaimLost(error: unknown): boolean {
  if (error instanceof UnitRefused) return error.tag === CLAIM;
  return error instanceof Error && error.cause !== undefined && isClaimLost(error.cause); // the run wraps it as a cause
}
