import type { CronEvent } from '../../protocol/cron.ts';
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import { createSerialKeys } from '../serial-keys.ts';
import type { ByHand } from './claims.ts';
import { DueHeap } from './due-heap.ts';
import type { Executor } from './executor.ts';
import type { Changed } from './jobs/changes.ts';
import type { Job } from './jobs/job.ts';
import { JobBook } from './jobs/job-book.ts';
import type { Attempt } from './jobs/job-end.ts';
import { RENEW_MS } from './lease-watch.ts';
import type { Ledger } from './ledger.ts';
import type { Outcome } from './occurrence.ts';
import type { OccurrenceRun } from './occurrence-run.ts';
import { createTransitions, type Transitions } from './transitions.ts';
import { WallWatch } from './wall-watch.ts';

export interface SchedulerDeps {
  ledger: Ledger;
  executor: Executor;
  clock: Clock;
  log: Log;
  /** Names this scheduler in the ledger. */
  owner: string;
  /** No other scheduler works on this ledger: whatever an earlier one held is free. */
  isAlone: boolean;
  settings: SchedulerSettings;
  publish(event: CronEvent): void;
}

/** Read when it is used. */
export interface SchedulerSettings {
  /** False: nothing runs by itself. */
  readonly enabled: boolean;
  readonly maxConcurrentRuns: number;
}

/** The wall clock may jump and machines sleep: no timer is longer. */
const MAX_NAP_MS = 60_000;
/** After the store took no writes. */
const RETRY_MS = 1_000;
/** A wall clock that lost more than this against the steady one was set back; one that is slewed loses less. */
const SET_BACK_MS = 500;

/** An answer to `runNow`. */
export type Forced = { ran: false; reason: 'not-due' | 'already-running' } | { ran: true; ended: Promise<Outcome> };

/**
 * Starts jobs when they are due: one timer over a heap of plain records. What happened to an occurrence stands in the
 * ledger before anything begins; runs go on outside of any lock.
 */
export class Scheduler {
  readonly #deps: SchedulerDeps;
  readonly #heap = new DueHeap();
  /** What is done to one job happens one after the other. */
  readonly #lanes = createSerialKeys();
  readonly #book: JobBook;
  readonly #transitions: Transitions;
  /** Claimed, waiting for a slot. */
  readonly #queue: OccurrenceRun[] = [];
  /** Taken. */
  #slots = 0;
  #woken = Promise.withResolvers<void>();
  #stopping = new AbortController().signal;
  #othersMs = 0;

  constructor(deps: SchedulerDeps) {
    this.#deps = deps;
    this.#book = new JobBook(deps.clock);
    this.#transitions = createTransitions(deps, this.#book);
  }

  /** Reads what there is; nothing runs yet. */
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

  /** When it began, while a run of the job is in progress. */
  runningSince(jobId: string): number | undefined {
    return this.#book.live.get(jobId)?.startedMs;
  }

  /** When the job is due next, or tried again. */
  nextRunMs(jobId: string): number | undefined {
    return this.#book.nextRunMs(jobId);
  }

  /** Null: nothing is planned. */
  nextWakeMs(): number | null {
    return this.#deps.settings.enabled ? (this.#heap.first()?.atMs ?? null) : null;
  }

  /** `commit` stores the job, which is new. */
  async add(job: Job, commit: () => Promise<unknown>): Promise<void> {
    await this.#lanes.run(job.id, async () => {
      await commit();
      this.#book.set(job.id, job);
    });
    this.#arrange(job.id);
    this.#wake();
  }

  /** Changes a job by hand: `change` answers how it is to be, or undefined when it is to go; what it throws is rejected with. */
  async change(jobId: string, change: (job: Job) => Job | undefined): Promise<Changed> {
    const changed = await this.#lanes.run(jobId, () => this.#transitions.changes.apply(jobId, change));
    this.#arrange(jobId);
    this.#wake();
    return changed;
  }

  /** Runs a job that is due, or in any case. Resolves when the run is on record; `ended` when it is over. */
  async runNow(jobId: string, asked: ByHand): Promise<Forced> {
    const claimed = await this.#lanes.run(jobId, () => this.#transitions.claims.byHand(jobId, asked));
    this.#arrange(jobId);
    if (typeof claimed === 'string') return { ran: false, reason: claimed };
    this.#queue.push(claimed);
    this.#wake();
    return { ran: true, ended: claimed.ended };
  }

  /** The run in progress, for those who ask again. */
  ended(jobId: string, scheduledMs: number): Promise<Outcome> | undefined {
    const live = this.#book.live.get(jobId);
    return live?.claim.scheduledMs === scheduledMs ? live.ended : undefined;
  }

  /** The settings have changed: schedules were switched on or off, or more may run at once. */
  look(): void {
    this.#wake();
  }

  /** Fires what is due until the signal aborts; then runs in progress are left for the next start. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, settings } = this.#deps;
    this.#stopping = signal;
    const stop = () => this.#wake();
    signal.addEventListener('abort', stop, { once: true });
    const watch = new WallWatch(clock);
    while (!signal.aborted) {
      this.#woken = Promise.withResolvers();
      await this.#lookAtOthers();
      if (watch.look() < -SET_BACK_MS) this.#arrangeAll();
      const { lateness } = this.#transitions;
      lateness.awakeMs(); // so that a leap of the clock is noticed soon after it
      if (settings.enabled) lateness.isBack();
      else lateness.isAway('schedules were switched off');
      const napMs = this.#start();
      lateness.naps(napMs);
      const nap = new AbortController();
      const slept = clock.sleep(napMs, nap.signal).catch(() => undefined); // woken before
      await Promise.race([this.#woken.promise, slept]);
      nap.abort();
    }
    signal.removeEventListener('abort', stop);
  }

  #wake(): void {
    this.#woken.resolve();
  }

  /** Starts what is due as far as there are slots; answers how long there is nothing more to do. */
  #start(): number {
    const { settings, clock, isAlone } = this.#deps;
    while (this.#slots < settings.maxConcurrentRuns) {
      const claimed = this.#queue.shift();
      const jobId = claimed?.claim.jobId ?? this.#takeDue();
      if (jobId === undefined) break;
      this.#slots += 1;
      void this.#occupy(jobId, claimed);
    }
    const first = settings.enabled && this.#slots < settings.maxConcurrentRuns ? this.#heap.first() : undefined;
    const isIdle = this.#slots === 0 && this.#book.live.size === 0;
    return Math.min(
      isAlone && isIdle ? MAX_NAP_MS : RENEW_MS,
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

  /** Holds a slot; a run that does not end when it is stopped holds none, so that no other job waits for it for ever. */
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
      await clock.sleep(RETRY_MS, this.#stopping).catch(() => undefined); // the daemon stops
    } finally {
      this.#arrange(jobId);
      leave();
    }
  }

  /** One occurrence from its claim to its end. */
  async #carryOut(jobId: string, claimed: OccurrenceRun | undefined, leave: () => void): Promise<void> {
    const run = claimed ?? (await this.#lanes.run(jobId, () => this.#transitions.claims.due(jobId)));
    if (!run) return;
    const attempt = this.#transitions.ends.recheck(run) ?? (await run.carryOut(this.#stopping, leave));
    if (attempt) await this.#record(run, attempt);
    else await this.#lanes.run(jobId, () => this.#transitions.ends.lost(run));
  }

  /** An end is not lost because the store takes no writes. */
  async #record(run: OccurrenceRun, attempt: Attempt): Promise<void> {
    const { clock, log } = this.#deps;
    for (;;) {
      try {
        return await this.#lanes.run(run.job.id, () => this.#transitions.ends.record(run, attempt));
      } catch (error) {
        log.warn({ err: error, jobId: run.job.id }, 'the end of a scheduled run could not be recorded; trying again');
        await clock.sleep(RETRY_MS, this.#stopping);
      }
    }
  }

  /**
   * Takes up what nobody works on any more (from the last start, and of schedulers that are gone), and what others change;
   * says that this one is there.
   */
  async #lookAtOthers(): Promise<void> {
    const { clock, ledger, log, isAlone } = this.#deps;
    if (clock.monotonic() < this.#othersMs) return;
    this.#othersMs = clock.monotonic() + RENEW_MS;
    try {
      await this.#transitions.claims.renew();
      if (!isAlone) {
        for (const jobId of this.#book.differing(await ledger.revisions())) await this.#refresh(jobId);
      }
      for (const { jobId } of await ledger.open()) await this.#adopt(jobId);
    } catch (error) {
      log.warn({ err: error }, 'the ledger of scheduled runs could not be read or written; trying again');
      this.#othersMs = clock.monotonic() + RETRY_MS;
    }
  }

  async #refresh(jobId: string): Promise<void> {
    await this.#lanes.run(jobId, () => this.#transitions.sync.refresh(jobId));
    this.#arrange(jobId);
  }

  async #adopt(jobId: string): Promise<void> {
    if (this.#book.live.has(jobId)) return;
    const run = await this.#lanes.run(jobId, () => this.#transitions.claims.adopt(jobId));
    if (run) this.#queue.push(run);
    this.#arrange(jobId);
  }

  #arrangeAll(): void {
    for (const { id } of this.#book.jobs.values()) this.#arrange(id);
  }

  #arrange(jobId: string): void {
    this.#heap.set(jobId, this.#book.wakeMs(jobId));
  }
}
