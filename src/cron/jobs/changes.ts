import { planGivenUp } from '../due-plan.ts';
import type { Rider } from '../ledger.ts';
import { toMissed } from '../plain-status.ts';
import type { TransitionContext, TransitionDeps } from '../transition-deps.ts';
import { isMoved } from './define-job.ts';
import type { Job } from './job.ts';
import { holdOf, isDue } from './job-book.ts';

/** `refused`: another scheduler changed it first. `job`: the job after the change; undefined when removed. */
export type Changed = 'unknown' | 'refused' | { job: Job | undefined };

/** Changes that callers make to jobs. */
export class Changes {
  readonly #deps: TransitionDeps;
  readonly #at: TransitionContext;

  constructor(deps: TransitionDeps, at: TransitionContext) {
    this.#deps = deps;
    this.#at = at;
  }

  /**
   * `change` returns the new job, or undefined to remove it. Instants that are due but have not begun are given up, and
   * get their records with the change. `also`: what the caller writes with it.
   */
  async apply(
    jobId: string,
    change: (job: Job) => Job | undefined,
    also: () => readonly Rider[] = () => [],
  ): Promise<Changed> {
    const { book, sync } = this.#at;
    await sync.refresh(jobId);
    const before = book.jobs.get(jobId);
    if (!before) return 'unknown';
    const wanted = change(before);
    const givenUp = await this.#givenUp(before, wanted);
    const job = wanted && { ...wanted, ...(givenUp && { handledMs: givenUp.handledMs }) };
    const settled = givenUp?.settled ?? [];
    if (!(await this.#deps.ledger.change(before, { job, settled, also: also() }))) {
      await sync.reload(jobId);
      return 'refused';
    }
    book.set(jobId, job);
    for (const one of settled) this.#deps.publish(toMissed(before, one, book.nextRunMs(jobId)));
    return { job };
  }

  async #givenUp(before: Job, after: Job | undefined) {
    const { ledger, clock } = this.#deps;
    if (!before.enabled || (after && !isMoved(before, after))) return undefined;
    const untilMs = after?.sinceMs ?? clock.now();
    if (!isDue(before, untilMs)) return undefined;
    const taken = await ledger.recorded(before.id, before.nextMs - 1, { butMissed: false });
    const reason = `The job was ${whatBecameOf(after)} before it began`;
    return planGivenUp({ ...before, holdMs: holdOf(before, untilMs) }, { untilMs, reason, taken });
  }
}

const whatBecameOf = (job: Job | undefined): string => (!job ? 'removed' : job.enabled ? 'changed' : 'disabled');
