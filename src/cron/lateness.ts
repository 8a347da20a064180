import type { Clock } from '../clock.ts';
import type { Job } from './jobs/job.ts';
import { maxAll, whyTooLate } from './misfire.ts';
import type { Outcome } from './occurrence.ts';
import { WallWatch } from './wall-watch.ts';

/** Leaps that are shorter do not make anything late. */
const LEAP_MS = 5_000;

/** Why instants pass without anybody noticing them. */
export class Lateness {
  readonly #clock: Pick<Clock, 'now' | 'monotonic'>;
  readonly #watch: WallWatch;
  #untilMs: number;
  #why = 'Headgate was not running';
  /** By then, on the steady clock, it is looked again. */
  #backMs = Number.POSITIVE_INFINITY;
  /** The store last failed. */
  #failedMs = 0;
  /** Nobody looks since then. */
  #away: { sinceMs: number; why: string } | undefined;

  constructor(clock: Pick<Clock, 'now' | 'monotonic'>) {
    this.#clock = clock;
    this.#watch = new WallWatch(clock);
    this.#untilMs = clock.now();
  }

  /** Since then every instant was noticed: Headgate runs, and the wall clock goes on as time does. */
  awakeMs(): number {
    const jumpedMs = this.#watch.look();
    if (jumpedMs > LEAP_MS) this.#passed('the machine slept, or its clock was set forward');
    if (jumpedMs < 0) this.#isSetBack();
    if (this.#clock.monotonic() > this.#backMs + LEAP_MS) {
      this.#backMs = Number.POSITIVE_INFINITY;
      this.#passed('Headgate stood still');
    }
    return this.#untilMs;
  }

  /** It is looked again after so long at the latest. */
  naps(ms: number): void {
    this.#backMs = this.#clock.monotonic() + ms;
  }

  /** Something was due and could not be claimed. */
  storeFailed(): void {
    this.#failedMs = this.#clock.now();
  }

  /** From now on instants pass without being noticed; `why`. */
  isAway(why: string): void {
    this.#away ??= { sinceMs: this.#clock.now(), why };
  }

  /** From now on they are noticed again. */
  isBack(): void {
    if (this.#away) this.#passed(this.#away.why);
    this.#away = undefined;
  }

  #passed(why: string): void {
    this.#untilMs = this.#clock.now();
    this.#why = why;
  }

  #isSetBack(): void {
    const nowMs = this.#clock.now();
    this.#untilMs = Math.min(this.#untilMs, nowMs);
    this.#failedMs = Math.min(this.#failedMs, nowMs);
    if (this.#away) this.#away.sinceMs = Math.min(this.#away.sinceMs, nowMs);
  }

  /** How an occurrence ends that nobody has begun, where it is too late to; undefined where it is not. */
  missed(job: Job, scheduledMs: number): Outcome | undefined {
    const late = whyTooLate(job.misfire, scheduledMs, this.#clock.now());
    return late === undefined ? undefined : { status: 'missed', error: `${this.why(job, scheduledMs)}; ${late}` };
  }

  /** For the record of an instant of a job that is late. */
  why(job: Job, scheduledMs: number): string {
    const { sinceMs, createdMs, misfire, last } = job;
    if (whyTooLate(misfire, scheduledMs, sinceMs) !== undefined) {
      return `its time was past already when the job was ${sinceMs > createdMs ? 'changed' : 'added'}`;
    }
    const dueMs = Math.max(scheduledMs, sinceMs);
    const isAsleep = dueMs < this.awakeMs();
    // Whatever else kept it, that did: a run goes on over restarts.
    if (isWithin(last, dueMs)) return 'the run before was still going';
    if (isAsleep) return this.#why;
    if (this.#away && dueMs >= this.#away.sinceMs) return this.#away.why;
    if (dueMs <= this.#failedMs) return 'the store took no writes';
    // Where all are run, they wait for one another too.
    return maxAll(misfire) === undefined
      ? 'no slot was free in time'
      : 'runs before it were going, or no slot was free';
  }
}

const isWithin = (run: Job['last'], atMs: number): boolean =>
  run?.startedMs !== undefined && run.startedMs <= atMs && atMs <= run.startedMs + (run.durationMs ?? 0);
