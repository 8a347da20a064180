import type { OccurrenceRun, Readiness } from './occurrence-run.ts';

/** Claimed runs that wait for a slot, or for schedules to be on. */
export class ClaimQueue {
  readonly #runs: OccurrenceRun[] = [];
  readonly #recheck: (run: OccurrenceRun) => Readiness;

  constructor(recheck: (run: OccurrenceRun) => Readiness) {
    this.#recheck = recheck;
  }

  push(run: OccurrenceRun): void {
    this.#runs.push(run);
  }

  /** The first run that does not wait for schedules to be on. */
  take(): OccurrenceRun | undefined {
    return this.#takeFirst((run) => this.#recheck(run) !== 'hold');
  }

  /** The run of a job that waits for schedules to be on. */
  takeHeld(jobId: string): OccurrenceRun | undefined {
    return this.#takeFirst((run) => run.claim.jobId === jobId && this.#recheck(run) === 'hold');
  }

  #takeFirst(fits: (run: OccurrenceRun) => boolean): OccurrenceRun | undefined {
    const index = this.#runs.findIndex(fits);
    return index === -1 ? undefined : this.#runs.splice(index, 1)[0];
  }
}
