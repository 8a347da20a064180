import type { Clock } from '../clock.ts';
import type { Job } from './jobs/job.ts';
import type { JobBook } from './jobs/job-book.ts';
import { maxAll, whyTooLate } from './misfire.ts';
import type { Outcome } from './occurrence.ts';
import { WallWatch } from './wall-watch.ts';

/** Shorter jumps do not make anything late. */
const LEAP_MS = 5_000;

/** Tracks why instants passed unnoticed. */
export class Lateness {
  readonly #clock: Pick<Clock, 'now' | 'monotonic'>;
  readonly #book: Pick<JobBook, 'othersMs'>;
  readonly #watch: WallWatch;
  #untilMs: number;
  #why = 'Headgate was not running';
  /** The next check is due by then, on the steady clock. */
  #backMs = Number.POSITIVE_INFINITY;
  /** When the store last failed. */
  #failedMs = 0;
  /** Set while nobody checks for due jobs. */
  #away: { sinceMs: number; why: string } | undefined;
  /** Set while all slots are in use. */
  #fullSinceMs: number | undefined;
  /** When all slots were last in use. */
  #fullMs = 0;

  constructor(clock: Pick<Clock, 'now' | 'monotonic'>, book: Pick<JobBook, 'othersMs'>) {
    this.#clock = clock;
    this.#book = book;
    this.#watch = new WallWatch(clock);
    this.#untilMs = clock.now();
  }

  /** The time since which every instant was noticed: Headgate was running and the wall clock did not jump. */
  awakeMs(): number {
    const jumpedMs = this.#watch.look();
    if (jumpedMs > LEAP_MS) this.#passed('the machine slept, or its clock was set forward');
    if (jumpedMs < 0) this.#isSetBack();
    if (this.#clock.monotonic() > this.#backMs + LEAP_MS) {
      this.#backMs = Number.POSITIVE_INFINITY;
      this.#passed('Headgate was unresponsive');
    }
    return this.#untilMs;
  }

  /** The next check comes after this time at the latest. */
  naps(ms: number): void {
    this.#backMs = this.#clock.monotonic() + ms;
  }

  /** A due job could not be claimed, or an occurrence not taken over. */
  storeFailed(): void {
    this.#failedMs = this.#clock.now();
  }

  /** From now on instants pass unnoticed, because of `why`. */
  isAway(why: string): void {
    this.#away ??= { sinceMs: this.#clock.now(), why };
  }

  /** From now on instants are noticed again. */
  isBack(): void {
    // Sleep that was noticed at this moment came later.
    if (this.#away && this.#untilMs < this.#clock.now()) this.#passed(this.#away.why);
    this.#away = undefined;
  }

  /** Whether all slots are in use from now on. */
  setFull(isFull: boolean): void {
    const nowMs = this.#clock.now();
    if (this.#fullSinceMs !== undefined) this.#fullMs = nowMs;
    this.#fullSinceMs = isFull ? (this.#fullSinceMs ?? nowMs) : undefined;
  }

  #passed(why: string): void {
    this.#untilMs = this.#clock.now();
    this.#why = why;
  }

  #isSetBack(): void {
    const nowMs = this.#clock.now();
    this.#untilMs = Math.min(this.#untilMs, nowMs);
    this.#failedMs = Math.min(this.#failedMs, nowMs);
    this.#fullMs = Math.min(this.#fullMs, nowMs);
    if (this.#fullSinceMs !== undefined) this.#fullSinceMs = Math.min(this.#fullSinceMs, nowMs);
    if (this.#away) this.#away.sinceMs = Math.min(this.#away.sinceMs, nowMs);
  }

  /** The outcome of an occurrence that did not begin and is now too late, because of `why`; undefined when it is not too late. */
  missed(job: Job, scheduledMs: number, why?: string): Outcome | undefined {
    const late = whyTooLate(job.misfire, scheduledMs, this.#clock.now());
    if (late === undefined) return undefined;
    return { status: 'missed', error: `${why ?? this.why(job, scheduledMs)}; ${late}` };
  }

  /** Why an instant of a job is late, for its record. */
  why(job: Job, scheduledMs: number): string {
    const { sinceMs, createdMs, misfire, last } = job;
    if (whyTooLate(misfire, scheduledMs, sinceMs) !== undefined) {
      return `its time had already passed when the job was ${sinceMs > createdMs ? 'changed' : 'added'}`;
    }
    const dueMs = Math.max(scheduledMs, sinceMs);
    const isAsleep = dueMs < this.awakeMs();
    // This comes first, because a run continues over restarts and prevents other runs of its job.
    if (isWithin(last, dueMs)) return 'the previous run was still in progress';
    if (isAsleep) return this.#why;
    if (this.#away && dueMs >= this.#away.sinceMs) return this.#away.why;
    if (dueMs <= this.#failedMs) return 'the store could not be written';
    return this.#whyWaited(job, dueMs);
  }

  /** Why an instant that came in time was late. */
  #whyWaited({ id, misfire, last }: Job, dueMs: number): string {
    if (dueMs <= this.#book.othersMs(id)) return 'another scheduler was in charge of the job';
    // With the policy `all`, occurrences also wait for one another.
    if (maxAll(misfire) !== undefined && (this.#wasFull(dueMs) || !wasOver(last, dueMs))) {
      return 'earlier runs were in progress, or no slot was free';
    }
    return this.#wasFull(dueMs) ? 'no slot was free in time' : 'it was noticed late';
  }

  #wasFull(dueMs: number): boolean {
    return dueMs <= this.#fullMs || (this.#fullSinceMs !== undefined && dueMs >= this.#fullSinceMs);
  }
}

const endOf = ({ startedMs = Number.POSITIVE_INFINITY, durationMs = 0 }: NonNullable<Job['last']>): number =>
  startedMs + durationMs;

const isWithin = (run: Job['last'], atMs: number): boolean =>
  run?.startedMs !== undefined && run.startedMs <= atMs && atMs <= endOf(run);

/** Whether no run of the job can have been in the way. */
const wasOver = (run: Job['last'], atMs: number): boolean =>
  run === undefined || run.status === 'missed' || endOf(run) < atMs;
