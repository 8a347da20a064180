import type { CronEvent } from '../../protocol/cron.ts';
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import { createSerialKeys } from '../timing/serial-keys.ts';
import { ClaimQueue } from './claim-queue.ts';
import type { ByHand } from './claims.ts';
import { DueHeap } from './due-heap.ts';
import type { Executor } from './executor.ts';
import type { Changed } from './jobs/changes.ts';
import type { Job } from './jobs/job.ts';
import { JobBook } from './jobs/job-book.ts';
import { RENEW_MS } from './lease-watch.ts';
import type { Ledger, Rider } from './ledger.ts';
import type { Outcome } from './occurrence.ts';
import type { OccurrenceRun } from './occurrence-run.ts';
import { Others } from './others.ts';
import { createTransitions, type Transitions } from './transitions.ts';
import { WallWatch } from './wall-watch.ts';

export interface SchedulerDeps {
  ledger: Ledger;
  executor: Executor;
  clock: Clock;
  log: Log;
  /** Identifies this scheduler in the ledger. */
  owner: string;
  /** No other scheduler has the jobs of this ledger, so the claims of an earlier one are free. */
  isAlone: boolean;
  settings: SchedulerSettings;
  publish(event: CronEvent): void;
}

/** Read at each use. */
export interface SchedulerSettings {
  /** False: nothing runs automatically. */
  readonly enabled: boolean;
  readonly maxConcurrentRuns: number;
}

/** No timer is longer, because the wall clock may jump and machines sleep. */
const MAX_NAP_MS = 60_000;
/** The wait after a failed write. */
const RETRY_MS = 1_000;
/** A wall clock that falls behind the steady clock by more than this was set back. Slewing loses less. */
const SET_BACK_MS = 500;

/** The result of `runNow`. */
export type Forced = { ran: false; reason: 'not-due' | 'already-running' } | { ran: true; ended: Promise<Outcome> };

/**
 * Starts jobs when they are due, with one timer over a heap of plain records. The ledger records each step of an
 * occurrence before it takes effect. Runs hold no lock.
 */
export class Scheduler {
  readonly #deps: SchedulerDeps;
  readonly #heap = new DueHeap();
  /** Operations on the same job run one after another. */
  readonly #lanes = createSerialKeys();
  readonly #book: JobBook;
  readonly #transitions: Transitions;
  readonly #queue: ClaimQueue;
  /** Slots in use. */
  #slots = 0;
  #woken = Promise.withResolvers<void>();
  #stopping = new AbortController().signal;
  readonly #others: Others;

  constructor(deps: SchedulerDeps) {
    this.#deps = deps;
    this.#book = new JobBook(deps.clock);
    this.#transitions = createTransitions(deps, this.#book);
    this.#queue = new ClaimQueue((run) => this.#transitions.ends.recheck(run));
    this.#others = new Others(deps, {
      book: this.#book,
      transitions: this.#transitions,
      lanes: this.#lanes,
      arrange: (jobId) => this.#arrange(jobId),
      onAdopted: (run) => this.#queue.push(run),
    });
  }

  /** Reads the ledger. Nothing runs yet. */
  async load(): Promise<void> {
    await this.#transitions.sync.load();
    for (const { id } of this.#book.jobs.values()) this.#arrange(id);
  }

  jobs(): Iterable<Job> {
    return this.#book.jobs.values();
  }

  get jobCount(): number {
    return this.#book.jobs.size;
  }

  job(jobId: string): Job | undefined {
    return this.#book.jobs.get(jobId);
  }

  /** The start time of the job's current run. */
  runningSince(jobId: string): number | undefined {
    return this.#book.live.get(jobId)?.startedMs;
  }

  /** When the job is due next, including retries. */
  nextRunMs(jobId: string): number | undefined {
    return this.#book.nextRunMs(jobId);
  }

  /** Null: nothing is planned. */
  nextWakeMs(): number | null {
    return this.#deps.settings.enabled ? (this.#heap.first()?.atMs ?? null) : null;
  }

  /** Adds a new job, which `commit` stores. */
  async add(job: Job, commit: () => Promise<unknown>): Promise<void> {
    await this.#lanes.run(job.id, async () => {
      await commit();
      this.#book.set(job.id, job);
    });
    this.#arrange(job.id);
    this.#wake();
  }

  /**
   * Changes a job for a caller: `change` returns the new job, or undefined to remove it. Rejects with what `change`
   * throws. `also`: what the caller writes in the same transaction.
   */
  async change(jobId: string, change: (job: Job) => Job | undefined, also?: () => readonly Rider[]): Promise<Changed> {
    const changed = await this.#lanes.run(jobId, () => this.#transitions.changes.apply(jobId, change, also));
    this.#arrange(jobId);
    this.#wake();
    return changed;
  }

  /** Runs a job that is due, or any job with `force`. Resolves when the run is recorded; `ended` when it is over. */
  async runNow(jobId: string, asked: ByHand): Promise<Forced> {
    const claimed = await this.#lanes.run(jobId, () => this.#claimByHand(jobId, asked));
    this.#arrange(jobId);
    if (typeof claimed === 'string') return { ran: false, reason: claimed };
    claimed.isRequested = true;
    this.#queue.push(claimed);
    this.#wake();
    return { ran: true, ended: claimed.ended };
  }

  async #claimByHand(jobId: string, asked: ByHand): Promise<OccurrenceRun | 'not-due' | 'already-running'> {
    const { claims } = this.#transitions;
    const held = this.#queue.takeHeld(jobId);
    if (!held) return claims.byHand(jobId, asked);
    try {
      return await claims.held(held, asked.keep);
    } catch (error) {
      this.#queue.push(held);
      throw error;
    }
  }

  /** The end of a run in progress, for repeated calls. */
  ended(jobId: string, scheduledMs: number): Promise<Outcome> | undefined {
    const live = this.#book.live.get(jobId);
    return live?.claim.scheduledMs === scheduledMs ? live.ended : undefined;
  }

  /** Call this after a change of the settings: schedules on or off, or another number of slots. */
  look(): void {
    this.#wake();
  }

  /** Another scheduler has ended, and this one has these jobs from now on. */
  takeIn(jobIds: Iterable<string>): void {
    this.#others.takeIn(jobIds);
    this.#wake();
  }

  /** Runs due jobs until the signal aborts. Runs in progress then continue at the next start. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, settings } = this.#deps;
    this.#stopping = signal;
    const stop = () => this.#wake();
    signal.addEventListener('abort', stop, { once: true });
    const watch = new WallWatch(clock);
    while (!signal.aborted) {
      this.#woken = Promise.withResolvers();
      await this.#others.look();
      if (watch.look() < -SET_BACK_MS) this.#arrangeAll();
      const { lateness } = this.#transitions;
      lateness.awakeMs(); // notices a clock jump soon
      if (settings.enabled) lateness.isBack();
      else lateness.isAway('schedules were switched off');
      const napMs = this.#start();
      lateness.naps(napMs);
      const nap = new AbortController();
      const slept = clock.sleep(napMs, nap.signal).catch(() => undefined); // woken early
      await Promise.race([this.#woken.promise, slept]);
      nap.abort();
    }
    signal.removeEventListener('abort', stop);
  }

  #wake(): void {
    this.#woken.resolve();
  }

  /** Starts due jobs while there are free slots. Returns how long there is nothing more to do. */
  #start(): number {
    const { settings, clock, isAlone } = this.#deps;
    const { lateness } = this.#transitions;
    const isFull = () => this.#slots >= settings.maxConcurrentRuns;
    lateness.setFull(isFull());
    while (!isFull()) {
      const claimed = this.#queue.take();
      const jobId = claimed?.claim.jobId ?? this.#takeDue();
      if (jobId === undefined) break;
      this.#slots += 1;
      void this.#occupy(jobId, claimed);
    }
    lateness.setFull(isFull());
    const first = settings.enabled && !isFull() ? this.#heap.first() : undefined;
    const isIdle = this.#slots === 0 && this.#book.live.size === 0;
    return Math.min(
      isAlone && isIdle ? MAX_NAP_MS : RENEW_MS,
      this.#others.waitMs,
      Math.max(0, (first?.atMs ?? Number.POSITIVE_INFINITY) - clock.now()),
    );
  }

  #takeDue(): string | undefined {
    const { settings, clock } = this.#deps;
    const first = settings.enabled ? this.#heap.first() : undefined;
    if (!first || first.atMs > clock.now()) return undefined;
    this.#heap.set(first.id, undefined);
    return first.id;
  }

  /** Runs a job in a slot. A run that ignores its stop frees the slot, so that other jobs do not wait forever. */
  async #occupy(jobId: string, claimed: OccurrenceRun | undefined): Promise<void> {
    const { clock, log } = this.#deps;
    let isHeld = true;
    const leave = () => {
      if (isHeld) this.#slots -= 1;
      isHeld = false;
      this.#wake();
    };
    try {
      await this.#carryOut(jobId, claimed, leave);
    } catch (error) {
      if (this.#stopping.aborted) return;
      log.warn({ err: error, jobId }, 'a scheduled job could not be started; trying again');
      this.#transitions.lateness.storeFailed();
      await clock.sleep(RETRY_MS, this.#stopping).catch(() => undefined); // the daemon is stopping
    } finally {
      this.#arrange(jobId);
      leave();
    }
  }

  /** Handles one occurrence from its claim to its end. */
  async #carryOut(jobId: string, claimed: OccurrenceRun | undefined, leave: () => void): Promise<void> {
    const run = claimed ?? (await this.#lanes.run(jobId, () => this.#transitions.claims.due(jobId)));
    if (!run) return;
    const { ends } = this.#transitions;
    const recheck = () => ends.recheck(run);
    const attempt = await run.carryOut({ stopping: this.#stopping, recheck, onUnheeded: leave });
    if (attempt === 'hold') this.#queue.push(run);
    else await this.#untilStored(run, () => (attempt ? ends.record(run, attempt) : ends.lost(run)));
  }

  /** Retries while the store does not answer, so that no end is lost and no job counts as running for ever. */
  async #untilStored(run: OccurrenceRun, store: () => Promise<void>): Promise<void> {
    const { clock, log } = this.#deps;
    for (;;) {
      try {
        return await this.#lanes.run(run.job.id, store);
      } catch (error) {
        log.warn({ err: error, jobId: run.job.id }, 'the end of a scheduled run could not be recorded; trying again');
        await clock.sleep(RETRY_MS, this.#stopping);
      }
    }
  }

  #arrangeAll(): void {
    for (const { id } of this.#book.jobs.values()) this.#arrange(id);
  }

  #arrange(jobId: string): void {
    this.#heap.set(jobId, this.#book.wakeMs(jobId));
  }
}
