import { wordsOf } from '../../protocol/words-of.ts';
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import type { Begun, Executor } from './executor.ts';
import type { Job } from './jobs/job.ts';
import type { Attempt } from './jobs/job-end.ts';
import type { Claim, OpenOccurrence, Outcome } from './occurrence.ts';

interface OccurrenceRunDeps {
  executor: Executor;
  clock: Clock;
  log: Log;
  onStarted(job: Job, startedMs: number): void;
}

/** `hold`: it may not begin now, but later. */
export type Readiness = Outcome | 'hold' | undefined;

interface Carrying {
  /** The daemon stops. */
  stopping: AbortSignal;
  /** Called before each try of a start. Returns how the occurrence ends if it must not begin any more. */
  recheck(): Readiness;
  /** The watchdog stopped the run, but it continues. */
  onUnheeded(): void;
}

/** Maximum tries of a start that may succeed on retry; about a quarter of an hour. */
const MAX_STARTS = 36;
const MAX_PAUSE_MS = 30_000;
/** How long a stopped run may take to end; an agent turn is abandoned after five seconds. */
const STOP_GRACE_MS = 60_000;

/** A claimed occurrence during one attempt. */
export class OccurrenceRun {
  /** The job as it will run. */
  job: Job;
  readonly claim: Claim;
  /** Claimed by us since then, by the wall clock. */
  readonly heldSinceMs: number;
  /** A caller asked for it, so that it runs also while schedules are off. */
  isRequested = false;
  readonly #deps: OccurrenceRunDeps;
  /** The part that the previous process began. */
  readonly #started: OpenOccurrence | undefined;
  readonly #end = Promise.withResolvers<Outcome>();
  #startedMs: number | undefined;
  #whyNotStarted: string | undefined;
  /** When this process began to work on it, by the steady clock. */
  #workingSinceMs: number | undefined;

  constructor(deps: OccurrenceRunDeps, occurrence: { job: Job; claim: Claim; started?: OpenOccurrence }) {
    this.#deps = deps;
    this.job = occurrence.job;
    this.claim = occurrence.claim;
    this.#started = occurrence.started;
    this.#startedMs = occurrence.started?.startedMs;
    this.heldSinceMs = deps.clock.now();
    if (this.#started) this.#workingSinceMs = deps.clock.monotonic(); // also while it waits for its slot
  }

  get startedMs(): number | undefined {
    return this.#startedMs;
  }

  /** Why the last try of its start failed. */
  get whyNotStarted(): string | undefined {
    return this.#whyNotStarted;
  }

  get isStarted(): boolean {
    return this.#startedMs !== undefined;
  }

  /** How long the attempt has worked, including the time before a restart. */
  get spentMs(): number {
    const { clock } = this.#deps;
    const hereMs = this.#workingSinceMs === undefined ? 0 : clock.monotonic() - this.#workingSinceMs;
    return Math.round((this.#started?.spentMs ?? 0) + hereMs);
  }

  /** Resolves when the end of the attempt is recorded. */
  get ended(): Promise<Outcome> {
    return this.#end.promise;
  }

  settle(outcome: Outcome): void {
    this.#end.resolve(outcome);
  }

  /**
   * Runs the attempt from start to end; undefined when another scheduler took the claim, `hold` when it has not begun.
   * Rejects when the daemon stops.
   */
  async carryOut({ stopping, recheck, onUnheeded }: Carrying): Promise<Attempt | 'hold' | undefined> {
    const { clock } = this.#deps;
    const over = new AbortController();
    try {
      const begun = await this.#begin(stopping, recheck);
      if (begun === 'hold') return begun;
      if (!begun || 'status' in begun) {
        return begun && { claim: this.#tried(), outcome: begun, startedMs: this.#startedMs, endedMs: clock.now() };
      }
      this.#startedMs = begun.startedMs;
      if (!this.#started) this.#deps.onStarted(this.job, begun.startedMs);
      void this.#limit(begun, { over: AbortSignal.any([over.signal, stopping]), onUnheeded });
      const outcome = await begun.ended;
      // After a restart, only the wall clock shows how long it took.
      const durationMs = this.#started ? clock.now() - begun.startedMs : this.spentMs;
      return {
        claim: this.#tried(),
        outcome,
        startedMs: begun.startedMs,
        durationMs: Math.max(0, Math.round(durationMs)),
        endedMs: clock.now(),
      };
    } finally {
      over.abort();
    }
  }

  /** The claim before this attempt. */
  #tried(): Claim {
    return this.#started ? { ...this.claim, attempts: this.claim.attempts - 1 } : this.claim;
  }

  /** Begins the attempt. Retries faults that may pass, such as a full queue or a disk that cannot be written. */
  async #begin(stopping: AbortSignal, recheck: Carrying['recheck']): Promise<Begun | Readiness> {
    const { clock, log } = this.#deps;
    for (let starts = 1; ; starts += 1) {
      try {
        return await (this.#started ? this.#resume(this.#started) : (recheck() ?? this.#start()));
      } catch (error) {
        log.warn({ err: error, jobId: this.job.id, starts }, 'a scheduled run could not start');
        this.#whyNotStarted = `it could not start: ${wordsOf(error)}`;
        if (starts === MAX_STARTS || !this.#isWorthATry(error)) return this.#outcomeOf(error);
        await clock.sleep(Math.min(MAX_PAUSE_MS, 1_000 * 2 ** (starts - 1)), stopping);
      }
    }
  }

  /** A run that has already begun is always retried. */
  #isWorthATry(error: unknown): boolean {
    return this.#started !== undefined || isRetryable(error);
  }

  #outcomeOf(error: unknown): Outcome {
    return {
      status: this.#started ? 'interrupted' : 'error',
      error: wordsOf(error),
    };
  }

  async #start(): Promise<Begun | undefined> {
    const { executor, clock } = this.#deps;
    const triedMs = clock.monotonic();
    const begun = await executor.begin(this.job, this.claim);
    const nowMs = clock.monotonic();
    // The wait for the start is not work. The wall clock may have been set meanwhile.
    const workedMs = Math.min(nowMs - triedMs, Math.max(0, clock.now() - (begun?.startedMs ?? 0)));
    this.#workingSinceMs = nowMs - workedMs;
    return begun;
  }

  async #resume(started: OpenOccurrence): Promise<Begun | Outcome> {
    const begun = await this.#deps.executor.resume(this.job, started);
    return begun ?? { status: 'interrupted', error: 'Headgate stopped, and the run could not be resumed' };
  }

  /** The watchdog. It counts only the time in which the machine is awake, because a sleeping machine does not work. */
  async #limit(begun: Begun, { over, onUnheeded }: { over: AbortSignal; onUnheeded: () => void }): Promise<void> {
    const { clock, log } = this.#deps;
    const { id: jobId, maxRunMs } = this.job;
    try {
      await clock.sleep(Math.max(0, maxRunMs - this.spentMs), over);
      begun.stop(`It ran longer than ${maxRunMs / 1000} s, the job's maxRunMs`);
      await clock.sleep(STOP_GRACE_MS, over);
    } catch {
      return; // the run ended
    }
    log.error({ jobId, maxRunMs }, 'a stopped scheduled run did not end; its slot is free for other jobs');
    onUnheeded();
  }
}

const isRetryable = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'retryable' in error && error.retryable === true;
