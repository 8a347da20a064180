import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../../clock.ts';
import { LeaseWatch } from '../lease-watch.ts';
import type { Ledger } from '../ledger.ts';
import type { OpenOccurrence } from '../occurrence.ts';
import type { Job } from './job.ts';
import type { JobBook } from './job-book.ts';

interface BookSyncDeps {
  ledger: Pick<Ledger, 'jobs' | 'job' | 'open' | 'openOf'>;
  clock: Pick<Clock, 'monotonic'>;
  isAlone: boolean;
}

/** Reads the ledger into the book. */
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

  /** Reloads a job after another scheduler changed it. Returns its open occurrence. */
  async reload(jobId: string): Promise<OpenOccurrence | undefined> {
    const { ledger } = this.#deps;
    const [job, open] = [await ledger.job(jobId), await ledger.openOf(jobId)];
    const wasTheirs =
      this.#book.isForeign(jobId) || !isDeepStrictEqual(planOf(this.#book.jobs.get(jobId)), planOf(job));
    this.#book.set(jobId, job);
    if (open?.status === 'retrying') this.#book.retries.set(jobId, { claim: open, atMs: open.retryMs ?? 0 });
    else this.#book.retries.delete(jobId);
    this.#book.setForeign(jobId, open !== undefined && open.status !== 'retrying' && !this.#book.live.has(jobId));
    if (!this.#deps.isAlone && job && (wasTheirs || this.#book.isForeign(jobId))) this.#book.leftToOthers(jobId);
    if (!open) this.#leases.forget(jobId);
    return open;
  }

  /** Reads a job that another scheduler had until now. */
  async takeIn(jobId: string): Promise<void> {
    await this.reload(jobId);
    this.#book.leftToOthers(jobId);
  }

  /** Reloads a job unless this scheduler is alone. A job with a live run is checked when that run ends. */
  async refresh(jobId: string): Promise<void> {
    if (!this.#deps.isAlone && !this.#book.live.has(jobId)) await this.reload(jobId);
  }

  /** Whether its owner is gone. */
  isOrphan(open: OpenOccurrence): boolean {
    return this.#deps.isAlone || this.#leases.isOver(open);
  }
}

/** What decides when a job is due. */
const planOf = (job: Job | undefined) => job && { schedule: job.schedule, enabled: job.enabled };
