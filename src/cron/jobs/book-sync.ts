import type { Clock } from '../../clock.ts';
import { LeaseWatch } from '../lease-watch.ts';
import type { Ledger } from '../ledger.ts';
import type { OpenOccurrence } from '../occurrence.ts';
import type { JobBook } from './job-book.ts';

interface BookSyncDeps {
  ledger: Pick<Ledger, 'jobs' | 'job' | 'open' | 'openOf'>;
  clock: Pick<Clock, 'monotonic'>;
  isAlone: boolean;
}

/** Reads into the book what the ledger has. */
export class BookSync {
  readonly #deps: BookSyncDeps;
  readonly #book: JobBook;
  readonly #leases: LeaseWatch;

  constructor(deps: BookSyncDeps, book: JobBook) {
    this.#deps = deps;
    this.#book = book;
    this.#leases = new LeaseWatch(deps.clock);
  }

  async load(): Promise<void> {
    const { ledger } = this.#deps;
    for (const job of await ledger.jobs()) this.#book.jobs.set(job.id, job);
    for (const open of await ledger.open()) this.#book.setForeign(open.jobId, true);
  }

  /** Somebody else was first: what is known of the job is out of date. Answers its occurrence that is not over. */
  async reload(jobId: string): Promise<OpenOccurrence | undefined> {
    const { ledger } = this.#deps;
    const [job, open] = [await ledger.job(jobId), await ledger.openOf(jobId)];
    this.#book.set(jobId, job);
    if (open?.status === 'retrying') this.#book.retries.set(jobId, { claim: open, atMs: open.retryMs ?? 0 });
    else this.#book.retries.delete(jobId);
    this.#book.setForeign(jobId, open !== undefined && open.status !== 'retrying' && !this.#book.live.has(jobId));
    if (!open) this.#leases.forget(jobId);
    return open;
  }

  /** Others may have changed it; who is alone knows. A run of ours finds out at its end. */
  async refresh(jobId: string): Promise<void> {
    if (!this.#deps.isAlone && !this.#book.live.has(jobId)) await this.reload(jobId);
  }

  /** Its owner is gone. */
  isOrphan(open: OpenOccurrence): boolean {
    return this.#deps.isAlone || this.#leases.isOver(open);
  }
}
