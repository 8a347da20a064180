import { GatewayError } from '../../protocol/errors.ts';
import type { Job } from '../../src/cron/jobs/job.ts';
import { toJob } from '../../src/gateway/cron/job-rows.ts';
import type { Store } from '../../src/gateway/store/store.ts';
import { storedReader } from '../../src/gateway/store/stored-value.ts';
import type { Random } from '../checker/random.ts';
import type { Block, CronEvidence, Span } from './evidence.ts';
import { Activity, Life } from './life.ts';
import { Plans } from './plans.ts';
import { SimClock } from './sim-clock.ts';
import { type Nature, SimRuns } from './sim-executor.ts';
import { askedJob, someNature, someSchedule } from './sim-jobs.ts';
import { Writes } from './sim-ledger.ts';
import { type SimProcess, startProcess } from './sim-process.ts';

interface WorldOptions {
  startMs: number;
  schedulers: number;
  jobs: number;
  /** The longest time without an incident. */
  restMs: number;
  random: Random;
}

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
/** Few, so that they are often all in use. */
export const MAX_RUNS = 3;

/** A machine with schedulers, changes to their jobs, and many faults. */
export class World {
  readonly clock: SimClock;
  readonly runs: SimRuns;
  readonly plans: Plans;
  readonly blocked: CronEvidence['blocked'] = [];
  readonly lives: CronEvidence['lives'] = [];
  readonly stalls: CronEvidence['stalls'] = [];
  readonly asked: CronEvidence['asked'] = [];
  readonly writes: Writes;
  readonly #store: Store;
  readonly #options: WorldOptions;
  readonly #random: Random;
  readonly #activity = new Activity();
  readonly #settings = { enabled: true, maxConcurrentRuns: MAX_RUNS };
  readonly #natures = new Map<string, Nature>();
  #processes: (SimProcess | undefined)[] = [];
  #takesWrites = true;
  #ids = 0;
  /** The wall clock is wrong by this much and later corrected. */
  #wrongMs = 0;
  #crash: Error | undefined;

  constructor(store: Store, options: WorldOptions) {
    this.#store = store;
    this.#options = options;
    this.#random = options.random;
    this.clock = new SimClock(options.startMs);
    this.plans = new Plans(() => this.clock.trueMs);
    this.writes = new Writes(this.clock);
    this.runs = new SimRuns({
      ...{ clock: this.clock, writes: this.writes },
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

  /** Waits for a random time, then causes an incident. */
  async happen(): Promise<void> {
    await this.#pass(this.#random.int(0, this.#options.restMs));
    const deed = this.#random.int(0, 99);
    if (deed < 22) await this.#kill();
    else if (deed < 32) await this.#stall();
    else if (deed < 50) await this.#setClock();
    else if (deed < 58) await this.#sleep();
    else if (deed < 63) await this.#fail();
    else if (deed < 65) await this.#turnOff();
    else await this.#ask();
  }

  /** Ends all faults. */
  async calm(ms: number): Promise<void> {
    await this.#pass(1); // so that an action just before and the jump have different times
    this.#jump(-this.#wrongMs);
    this.runs.isCalm = true;
    for (const index of this.#processes.keys()) if (!this.#alive(index)) this.#start(index);
    await this.#pass(ms);
  }

  // ── Faults ──

  /** Ends a process at one of its next awaits, and restarts it some time later. */
  async #kill(): Promise<void> {
    const index = this.#random.int(0, this.#options.schedulers - 1);
    const process = this.#alive(index);
    process?.life.light(this.#random.int(1, 25), 'end');
    await this.#pass(this.#random.int(0, 2 * MINUTE_MS));
    process?.life.end();
    await this.#pass(this.#absenceMs());
    this.#start(index);
  }

  /** Stops a process at one of its next awaits; others may take over its work until it continues. */
  async #stall(): Promise<void> {
    const process = this.#random.pick(this.#processes);
    if (!process || process.life.isOver || process.life.isStalled) return;
    process.life.light(this.#random.int(1, 25), 'stall');
    await this.#pass(this.#random.int(0, 2 * MINUTE_MS));
    process.life.stall();
    await this.#pass(this.#random.int(10 * SECOND_MS, 3 * MINUTE_MS));
    if (this.#random.chance(0.3)) await this.happen();
    process.life.goOn();
    await this.#pass(0);
  }

  /** Often short, so that a scheduler is present for the next incident. */
  #absenceMs(): number {
    const someMs = [0, 0, 5 * SECOND_MS, 2 * MINUTE_MS, 20 * MINUTE_MS, this.#random.int(0, 3 * HOUR_MS)];
    return this.#random.chance(0.03) ? DAY_MS : this.#random.pick(someMs);
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
    const span = this.#beginSpan('the machine sleeps');
    this.clock.suspend(this.#absenceMs() + 10 * SECOND_MS);
    span.toMs = this.clock.trueMs;
    if (this.#random.chance(0.5)) await this.#ask(); // before any scheduler has noticed
  }

  async #fail(): Promise<void> {
    const span = this.#beginSpan('the store takes no writes');
    this.#takesWrites = false;
    await this.#pass(this.#random.int(0, 5 * MINUTE_MS));
    this.#takesWrites = true;
    span.toMs = this.clock.trueMs;
  }

  async #turnOff(): Promise<void> {
    const span = this.#beginSpan('schedules are off');
    this.#switch(false);
    for (let asked = this.#random.int(0, 4); asked > 0; asked -= 1) {
      await this.#pass(this.#random.int(0, 30 * MINUTE_MS));
      await this.#ask();
    }
    this.#switch(true);
    span.toMs = this.clock.trueMs;
  }

  /** A stopped process learns of it when it continues. */
  #switch(enabled: boolean): void {
    this.#settings.enabled = enabled;
    const there = this.#processes.filter((one) => one && !one.life.isOver && !one.life.isStalled);
    for (const process of there) process?.scheduler.look();
  }

  // ── Actions of people ──

  async #ask(): Promise<void> {
    const process = this.#random.pick(this.#processes);
    if (!process || process.life.isOver || process.life.isStalled) return;
    const jobs = [...process.scheduler.jobs()];
    const job = this.#random.pick([...jobs, undefined]);
    if (job) await this.#do(job.id, () => this.#deed(process, job));
    if (!job || jobs.length < this.#options.jobs) await this.#add();
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
    if (!process || process.life.isStalled) return;
    const jobId = `job-${this.#ids + 1}`; // the next one
    await this.#do(jobId, () => process.jobs.add(askedJob(this.#random, this.clock.now()), () => []));
  }

  /** Does not wait for an answer, because a killed process gives none. Refusals are expected. */
  async #do(jobId: string, deed: () => Promise<unknown>): Promise<void> {
    const before = await this.#rowOf(jobId);
    deed().catch(() => undefined);
    await this.#activity.settle();
    this.asked.push({ jobId, atMs: this.clock.trueMs });
    this.plans.follow(jobId, before, await this.#rowOf(jobId));
  }

  // ── Setup ──

  #alive(index: number): SimProcess | undefined {
    const process = this.#processes[index];
    return process?.life.isOver ? undefined : process;
  }

  #start(index: number): void {
    this.#ids += 1;
    const owner = `scheduler-${index}-${this.#ids}`;
    const span = { owner, fromMs: this.clock.trueMs, toMs: Number.POSITIVE_INFINITY };
    this.lives.push(span);
    const life = this.#newLife(span);
    this.#processes[index] = startProcess(
      {
        ...{ clock: this.clock, runs: this.runs, writes: this.writes, settings: this.#settings },
        store: this.#writable(),
        isAlone: this.#options.schedulers === 1,
        newId: (kind) => this.#newJobId(kind),
        publish: () => undefined,
        onCrash: (error) => {
          this.#crash ??= new Error(`${owner} stopped with an error`, { cause: error });
        },
      },
      { owner, life },
    );
  }

  #newLife(span: CronEvidence['lives'][number]): Life {
    let stall: CronEvidence['stalls'][number] | undefined;
    const end = (ended: Span | undefined) => void (ended && Object.assign(ended, { toMs: this.clock.trueMs }));
    return new Life({
      activity: this.#activity,
      random: this.#random.fork(span.owner),
      onEnd: () => end(span),
      onStall: () => {
        stall = { ...span, fromMs: this.clock.trueMs, toMs: Number.POSITIVE_INFINITY };
        this.stalls.push(stall);
      },
      onGoOn: () => end(stall),
    });
  }

  #newJobId(kind: string): string {
    this.#ids += 1;
    const id = `${kind}-${this.#ids}`;
    this.#natures.set(id, someNature(this.#random));
    return id;
  }

  async #pass(ms: number): Promise<void> {
    await this.clock.advance(ms, () => this.#activity.settle());
    if (this.#crash) throw this.#crash;
  }

  #beginSpan(why: Block['why']): Block {
    const span = { fromMs: this.clock.trueMs, toMs: this.clock.trueMs, why };
    this.blocked.push(span);
    return span;
  }

  /** The store, while it accepts writes. */
  #writable(): Pick<Store, 'db' | 'commit' | 'reportDamage' | 'machine'> {
    const { db, commit } = this.#store;
    return {
      reportDamage: this.#store.reportDamage,
      machine: this.#store.machine,
      db,
      commit: async (unit) => {
        if (!this.#takesWrites) throw new GatewayError('UNAVAILABLE', 'Cannot write to the disk');
        return commit(unit);
      },
    };
  }

  async #rowOf(jobId: string): Promise<Job | undefined> {
    const query = this.#store.db.selectFrom('cron_jobs').selectAll().where('job_id', '=', jobId);
    const row = await query.executeTakeFirst();
    return row && toJob(row, storedReader(this.#store));
  }
}
