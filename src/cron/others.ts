import type { SerialKeys } from '../timing/serial-keys.ts';
import type { JobBook } from './jobs/job-book.ts';
import { RENEW_MS } from './lease-watch.ts';
import type { OccurrenceRun } from './occurrence-run.ts';
import type { TransitionDeps } from './transition-deps.ts';
import type { Transitions } from './transitions.ts';

type OthersDeps = Pick<TransitionDeps, 'ledger' | 'clock' | 'log' | 'isAlone'>;

interface OthersParts {
  book: JobBook;
  transitions: Transitions;
  /** Operations on the same job run one after another. */
  lanes: SerialKeys;
  /** A job may be due at another time now. */
  arrange(jobId: string): void;
  onAdopted(run: OccurrenceRun): void;
}

/** The wait after a failed look. */
const RETRY_MS = 1_000;

/** What a scheduler takes over from others, and learns of them from the ledger. */
export class Others {
  readonly #deps: OthersDeps;
  readonly #at: OthersParts;
  /** The next look, on the steady clock. */
  #nextMs = 0;
  /** Jobs that were another scheduler's, and are read at the next look. */
  readonly #arrived = new Set<string>();

  constructor(deps: OthersDeps, at: OthersParts) {
    this.#deps = deps;
    this.#at = at;
  }

  /** Another scheduler has ended, and this one has these jobs from now on. */
  takeIn(jobIds: Iterable<string>): void {
    for (const jobId of jobIds) this.#arrived.add(jobId);
    this.#nextMs = 0;
  }

  /** How long the jobs that arrived can wait, because they could not be read; infinite if there are none. */
  get waitMs(): number {
    const waitMs = Math.max(0, this.#nextMs - this.#deps.clock.monotonic());
    return this.#arrived.size > 0 ? waitMs : Number.POSITIVE_INFINITY;
  }

  /**
   * Renews our leases, adopts occurrences without a living owner (from the last start or another scheduler), and reads
   * changes by others. Does nothing if the last look was not long ago.
   */
  async look(): Promise<void> {
    const { clock, ledger, log, isAlone } = this.#deps;
    const { book, transitions } = this.#at;
    if (clock.monotonic() < this.#nextMs) return;
    this.#nextMs = clock.monotonic() + RENEW_MS;
    try {
      await transitions.claims.renew();
      for (const jobId of this.#arrived) await this.#readArrived(jobId);
      if (!isAlone) {
        for (const jobId of book.differing(await ledger.revisions())) await this.#refresh(jobId);
      }
      for (const { jobId } of await ledger.open()) await this.#adopt(jobId);
    } catch (error) {
      log.warn({ err: error }, 'the ledger of scheduled runs could not be read or written; trying again');
      transitions.lateness.storeFailed();
      this.#nextMs = clock.monotonic() + RETRY_MS;
    }
  }

  async #readArrived(jobId: string): Promise<void> {
    const { lanes, transitions, arrange } = this.#at;
    await lanes.run(jobId, () => transitions.sync.takeIn(jobId));
    this.#arrived.delete(jobId);
    arrange(jobId);
  }

  async #refresh(jobId: string): Promise<void> {
    const { lanes, transitions, arrange } = this.#at;
    await lanes.run(jobId, () => transitions.sync.refresh(jobId));
    arrange(jobId);
  }

  async #adopt(jobId: string): Promise<void> {
    const { book, lanes, transitions, arrange, onAdopted } = this.#at;
    if (book.live.has(jobId)) return;
    const run = await lanes.run(jobId, () => transitions.claims.adopt(jobId));
    if (run) onAdopted(run);
    arrange(jobId);
  }
}
