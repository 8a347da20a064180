import { GatewayError } from '../../protocol/errors.ts';
import type { Job } from '../../src/cron/job.ts';
import { toJob } from '../../src/gateway/cron/job-rows.ts';
import type { Store } from '../../src/gateway/store/store.ts';
import type { Random } from '../checker/random.ts';
import type { CronEvidence, Span } from './evidence.ts';
import { Activity, Life } from './life.ts';
import { Plans } from './plans.ts';
import { SimClock } from './sim-clock.ts';
import { type Nature, SimRuns } from './sim-executor.ts';
import { askedJob, someNature, someSchedule } from './sim-jobs.ts';
import { type SimProcess, startProcess } from './sim-process.ts';

interface WorldOptions {
  startMs: number;
  schedulers: number;
  jobs: number;
  random: Random;
}

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
export const MAX_RUNS = 4;

/** A machine with schedulers on it, somebody who changes their jobs, and much that goes wrong. */
export class World {
  readonly clock: SimClock;
  readonly runs: SimRuns;
  readonly plans: Plans;
  readonly blocked: CronEvidence['blocked'] = [];
  readonly lives: CronEvidence['lives'] = [];
  readonly #store: Store;
  readonly #options: WorldOptions;
  readonly #random: Random;
  readonly #activity = new Activity();
  readonly #settings = { enabled: true, maxConcurrentRuns: MAX_RUNS };
  readonly #natures = new Map<string, Nature>();
  #processes: (SimProcess | undefined)[] = [];
  #takesWrites = true;
  #ids = 0;
  /** The wall clock is wrong by so much, and is put right again. */
  #wrongMs = 0;

  constructor(store: Store, options: WorldOptions) {
    this.#store = store;
    this.#options = options;
    this.#random = options.random;
    this.clock = new SimClock(options.startMs);
    this.plans = new Plans(() => this.clock.trueMs);
    this.runs = new SimRuns({
      clock: this.clock,
      store: this.#writable(),
      random: this.#random.fork('runs'),
      natureOf: (jobId) => this.#natures.get(jobId) ?? { meanMs: 0, failRate: 0 },
    });
  }

  async begin(): Promise<void> {
    this.#start(0);
    await this.#pass(0);
    for (let index = 0; index < this.#options.jobs; index += 1) await this.#add();
    for (let index = 1; index < this.#options.schedulers; index += 1) this.#start(index);
  }

  /** Some time goes by, then something happens. */
  async happen(): Promise<void> {
    await this.#pass(this.#random.int(0, 20 * MINUTE_MS));
    const deed = this.#random.int(0, 99);
    if (deed < 30) await this.#kill();
    else if (deed < 50) await this.#setClock();
    else if (deed < 58) await this.#sleep();
    else if (deed < 63) await this.#fail();
    else if (deed < 65) await this.#turnOff();
    else await this.#ask();
  }

  /** Everything is put right, and nothing goes wrong any more. */
  async calm(ms: number): Promise<void> {
    this.#jump(-this.#wrongMs);
    this.runs.isCalm = true;
    for (const index of this.#processes.keys()) if (!this.#alive(index)) this.#start(index);
    await this.#pass(ms);
  }

  // ── What goes wrong ──

  /** Ends a process at one of its next awaits, and starts it again some time later. */
  async #kill(): Promise<void> {
    const index = this.#random.int(0, this.#options.schedulers - 1);
    const process = this.#alive(index);
    process?.life.light(this.#random.int(1, 25));
    await this.#pass(this.#random.int(0, 2 * MINUTE_MS));
    process?.life.end();
    const downMs = this.#random.pick([0, 0, 5 * SECOND_MS, 10 * MINUTE_MS, this.#random.int(0, 3 * HOUR_MS), DAY_MS]);
    await this.#pass(downMs);
    this.#start(index);
  }

  async #setClock(): Promise<void> {
    if (this.#wrongMs !== 0 && this.#random.chance(0.7)) return this.#jump(-this.#wrongMs);
    const sizeMs = this.#random.pick([SECOND_MS, SECOND_MS, HOUR_MS, HOUR_MS, 400 * DAY_MS]);
    this.#jump(this.#random.pick([-1, 1]) * sizeMs);
  }

  #jump(ms: number): void {
    this.#wrongMs += ms;
    this.clock.jump(ms);
  }

  async #sleep(): Promise<void> {
    const span = this.#beginSpan();
    this.clock.suspend(this.#random.pick([10 * SECOND_MS, 20 * MINUTE_MS, this.#random.int(0, 8 * HOUR_MS), DAY_MS]));
    span.toMs = this.clock.trueMs;
  }

  async #fail(): Promise<void> {
    const span = this.#beginSpan();
    this.#takesWrites = false;
    await this.#pass(this.#random.int(0, 5 * MINUTE_MS));
    this.#takesWrites = true;
    span.toMs = this.clock.trueMs;
  }

  async #turnOff(): Promise<void> {
    const span = this.#beginSpan();
    this.#settings.enabled = false;
    await this.#pass(this.#random.int(0, 2 * HOUR_MS));
    this.#settings.enabled = true;
    span.toMs = this.clock.trueMs;
  }

  // ── What people do ──

  async #ask(): Promise<void> {
    const process = this.#random.pick(this.#processes);
    if (!process || process.life.isOver) return;
    const job = this.#random.pick([...process.scheduler.jobs(), undefined]);
    // Jobs that another scheduler adds are seen by those that start later only.
    if (job) await this.#do(job.id, () => this.#deed(process, job));
    else if (this.#options.schedulers === 1) await this.#add();
  }

  #deed({ scheduler, jobs }: SimProcess, job: Job): Promise<unknown> {
    const deed = this.#random.int(0, 9);
    if (deed <= 4) return scheduler.runNow(job.id, { force: this.#random.chance(0.7) });
    if (deed === 5) return jobs.remove(job.id);
    const { id } = job;
    const name = `name ${this.#ids}`;
    if (deed === 6) return jobs.update({ id, patch: { name, enabled: !job.enabled } });
    if (deed === 7) return jobs.update({ id, patch: { name, schedule: someSchedule(this.#random, this.clock.now()) } });
    return jobs.update({ id, patch: { name } });
  }

  async #add(): Promise<void> {
    const process = this.#alive(0);
    if (!process) return;
    const jobId = `job-${this.#ids + 1}`; // the next one
    await this.#do(jobId, () => process.jobs.add(askedJob(this.#random, this.clock.now()), () => []));
  }

  /** Does not wait for an answer: a process that is killed gives none. Refusals are part of life. */
  async #do(jobId: string, deed: () => Promise<unknown>): Promise<void> {
    const before = await this.#rowOf(jobId);
    deed().catch(() => undefined);
    await this.#activity.settle();
    this.plans.follow(jobId, before, await this.#rowOf(jobId));
  }

  // ── How it is made ──

  #alive(index: number): SimProcess | undefined {
    const process = this.#processes[index];
    return process?.life.isOver ? undefined : process;
  }

  #start(index: number): void {
    this.#ids += 1;
    const owner = `scheduler-${index}-${this.#ids}`;
    const span = { owner, fromMs: this.clock.trueMs, toMs: Number.POSITIVE_INFINITY };
    this.lives.push(span);
    const life = new Life({
      activity: this.#activity,
      random: this.#random.fork(owner),
      onEnd: () => {
        span.toMs = this.clock.trueMs;
      },
    });
    this.#processes[index] = startProcess(
      {
        ...{ clock: this.clock, runs: this.runs, settings: this.#settings },
        store: this.#writable(),
        isAlone: this.#options.schedulers === 1,
        newId: (kind) => this.#newJobId(kind),
        publish: () => undefined,
      },
      { owner, life },
    );
  }

  #newJobId(kind: string): string {
    this.#ids += 1;
    const id = `${kind}-${this.#ids}`;
    this.#natures.set(id, someNature(this.#random));
    return id;
  }

  async #pass(ms: number): Promise<void> {
    await this.clock.advance(ms, () => this.#activity.settle());
  }

  #beginSpan(): Span {
    const span = { fromMs: this.clock.trueMs, toMs: this.clock.trueMs };
    this.blocked.push(span);
    return span;
  }

  /** The store, while it takes writes. */
  #writable(): Pick<Store, 'db' | 'commit'> {
    const { db, commit } = this.#store;
    return {
      db,
      commit: async (unit) => {
        if (!this.#takesWrites) throw new GatewayError('UNAVAILABLE', 'The disk takes no writes');
        return commit(unit);
      },
    };
  }

  async #rowOf(jobId: string): Promise<Job | undefined> {
    const query = this.#store.db.selectFrom('cron_jobs').selectAll().where('job_id', '=', jobId);
    const row = await query.executeTakeFirst();
    return row && toJob(row);
  }
}
