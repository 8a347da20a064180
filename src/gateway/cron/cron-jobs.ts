import { isDeepStrictEqual } from 'node:util';
import type { CronEvent, CronPayload } from '../../../protocol/cron.ts';
import { GatewayError } from '../../../protocol/errors.ts';
import type { Params } from '../../../protocol/index.ts';
import { wrongField } from '../../../protocol/parse.ts';
import { changedJob, newJob } from '../../cron/jobs/define-job.ts';
import type { Job, JobLabel } from '../../cron/jobs/job.ts';
import type { Scheduler } from '../../cron/scheduler.ts';
import type { Ids } from '../../ids.ts';
import type { Principal } from '../auth/principal.ts';
import type { Channels } from '../channels/channels.ts';
import type { Statement, Store } from '../store/store.ts';
import { toThinkingLevel } from '../workstreams/thinking-level.ts';
import { requireMayAllow, rightsOfTexts } from './allowed-calls.ts';
import { insertJob } from './job-rows.ts';
import type { FarJobs, JobsElsewhere } from './jobs-elsewhere.ts';
import type { ListedJob } from './listed-job.ts';

interface CronJobsDeps {
  store: Pick<Store, 'commit' | 'machine'>;
  scheduler: Pick<Scheduler, 'add' | 'change' | 'job' | 'jobs' | 'jobCount' | 'nextRunMs' | 'runningSince'>;
  elsewhere: JobsElsewhere;
  clock: { now(): number };
  ids: Pick<Ids, 'id'>;
  /** The tools of runs of jobs. */
  toolbox: { definitions(): readonly { name: string }[] };
  /** The channels that can deliver answers. */
  channels: Pick<Channels, 'all' | 'byName'>;
  /** The zone of this machine, an IANA name. */
  hostTimeZone: string;
  publish(event: CronEvent): void;
}

/** Values of `channel` besides our channels: `last`, and a provider name of earlier gateways. */
const WITHOUT_LINK = ['last', 'webchat'];

/** Who makes or changes a job, and what administrators write about it. */
interface Maker {
  by?: Principal | undefined;
  label?: JobLabel;
}

type Change = Pick<Params<'cron.update'>, 'id' | 'patch' | 'revision'> & Maker;

/** More jobs would be a program's mistake. */
const MAX_JOBS = 20_000;
/** The limit for the text of all jobs together, in characters. They are kept in memory and listed in one answer. */
const MAX_TEXT = 32 * 1024 * 1024;
/** Shorter texts are not counted: even the maximum number of such jobs fits. */
const SHORT_TEXT = 4_096;

/** Changes that people and programs make to jobs. None of them waits for a run. */
export class CronJobs {
  readonly #deps: CronJobsDeps;

  constructor(deps: CronJobsDeps) {
    this.#deps = deps;
  }

  /**
   * `keep`: statements to commit with the job. Throws INVALID_REQUEST naming the field, and FORBIDDEN for a job that allows
   * calls, of somebody who may not decide about them.
   */
  async add(asked: Params<'cron.add'>, keep: (job: Job) => Statement[], { by, label }: Maker = {}): Promise<Job> {
    const { store, scheduler, elsewhere, ids } = this.#deps;
    this.#checkWork(asked);
    const made = newJob(asked, { ...this.#circumstances(), id: ids.id('job') });
    requireMayAllow(undefined, made, by);
    const rights = rightsOfTexts(undefined, made, by);
    const job = { ...made, rights, ...(by !== undefined && { sender: by.id }), ...(label && { label }) };
    if (scheduler.jobCount + (await elsewhere.count()) >= MAX_JOBS) {
      throw new GatewayError('INVALID_REQUEST', `job limit (${MAX_JOBS}) reached; remove some first`);
    }
    const others = await this.#textsOfOthers(job);
    this.#checkRoom(job, others);
    const insert = insertJob(job, store.machine);
    await scheduler.add(job, () => store.commit({ statements: [insert, ...keep(job)], durable: true }));
    this.#tell('added', job.id);
    return job;
  }

  /** The job for a repeated call, even if it has been removed since. */
  async asMade(asked: Params<'cron.add'>, { id, madeMs }: { id: string; madeMs: number }): Promise<ListedJob> {
    const made = () => newJob(asked, { ...this.#circumstances(), id, nowMs: madeMs });
    return (await this.#find(id)) ?? this.listed(made());
  }

  /**
   * Throws NOT_FOUND for an unknown id, Elsewhere for a job of another machine, and CONFLICT for a revision other than the expected one. A refused change
   * leaves the job unchanged. FORBIDDEN as for `add`. `also`: statements to commit with the change.
   */
  async update({ id, patch, revision, by, label }: Change, also?: () => Statement[]): Promise<Job> {
    const own = await this.ofHere(id);
    const others = patch.payload ? await this.#textsOfOthers({ ...own, payload: patch.payload }) : 0;
    const change = (job: Job) => {
      if (revision !== undefined && revision !== job.revision) throw changedMeanwhile();
      this.#checkWork(patch);
      const changed = changedJob(job, patch, this.#circumstances());
      requireMayAllow(job, changed, by);
      const sender = hasSameDestination(job.payload, changed.payload) ? job.sender : by?.id;
      const after = { ...changed, sender, rights: rightsOfTexts(job, changed, by), ...(label && { label }) };
      if (patch.payload) this.#checkRoom(after, others);
      return after;
    };
    const changed = await this.#deps.scheduler.change(id, change, also);
    if (changed === 'unknown') throw unknownJob(id);
    if (changed === 'refused') throw changedMeanwhile();
    this.#tell('updated', id);
    return changed.job ?? this.ofHere(id);
  }

  /** False when it did not exist. `also`: statements to commit with the removal. */
  async remove(id: string, also?: () => Statement[]): Promise<boolean> {
    const { scheduler, elsewhere } = this.#deps;
    if (!scheduler.job(id)) await elsewhere.requireHere(id);
    const removed = await scheduler.change(id, () => undefined, also);
    if (removed === 'refused') throw changedMeanwhile();
    if (removed === 'unknown') return false;
    this.#deps.publish({ jobId: id, action: 'removed' });
    return true;
  }

  /** A job that this machine has. Throws NOT_FOUND, and Elsewhere for a job of another machine. */
  async ofHere(id: string): Promise<Job> {
    const { scheduler, elsewhere } = this.#deps;
    const job = scheduler.job(id);
    if (job) return job;
    await elsewhere.requireHere(id);
    throw unknownJob(id);
  }

  /** A job of any machine. Throws NOT_FOUND. */
  async get(id: string): Promise<ListedJob> {
    const found = await this.#find(id);
    if (!found) throw unknownJob(id);
    return found;
  }

  async #find(id: string): Promise<ListedJob | undefined> {
    const { scheduler, elsewhere } = this.#deps;
    const own = scheduler.job(id);
    if (own) return this.listed(own);
    const far = await elsewhere.read(id);
    return far.jobs.map((job) => listedFar(job, far)).at(0);
  }

  /** Those of all machines, sorted by next run; jobs without a next run come first. */
  async list({ includeDisabled }: { includeDisabled: boolean }): Promise<ListedJob[]> {
    const { scheduler, elsewhere } = this.#deps;
    const far = await elsewhere.read();
    const others = far.jobs.filter(({ id }) => !scheduler.job(id)).map((job) => listedFar(job, far));
    const all = [...[...scheduler.jobs()].map((job) => this.listed(job)), ...others];
    const listed = all.filter(({ job }) => job.enabled || includeDisabled);
    return listed.sort((a, b) => (a.nextRunMs ?? 0) - (b.nextRunMs ?? 0));
  }

  /** A job of this machine. */
  listed(job: Job): ListedJob {
    const { scheduler, store } = this.#deps;
    const { id } = job;
    return {
      job,
      machine: store.machine,
      nextRunMs: scheduler.nextRunMs(id),
      runningSinceMs: scheduler.runningSince(id),
    };
  }

  /** Checks work that would fail in every run. */
  #checkWork({ payload, approval }: Pick<Change['patch'], 'payload' | 'approval'>): void {
    checkThinking(payload);
    this.#checkChannel(payload);
    if (approval?.mode !== 'allow') return;
    const known = this.#deps.toolbox.definitions().map(({ name }) => name);
    const index = approval.tools.findIndex((tool) => !known.includes(tool));
    if (index === -1) return;
    const problem = `unknown tool "${approval.tools[index]}"; available: ${known.join(', ')}`;
    throw wrongField(`approval.tools.${index}`, problem);
  }

  #checkChannel(payload: CronPayload | undefined): void {
    if (payload?.kind !== 'agentTurn') return;
    const name = payload.channel?.trim().toLowerCase() ?? '';
    const { channels } = this.#deps;
    if (name === '' || WITHOUT_LINK.includes(name) || channels.byName(name) !== undefined) return;
    const known = [...channels.all.map((channel) => channel.name), ...WITHOUT_LINK].join(', ');
    throw wrongField('payload.channel', `unsupported channel: ${name.slice(0, 80)} (available: ${known})`);
  }

  /** How many characters the jobs of other machines have, if it matters for this one. */
  async #textsOfOthers(job: Pick<Job, 'payload'>): Promise<number> {
    if (textOf(job).length <= SHORT_TEXT) return 0;
    const { jobs } = await this.#deps.elsewhere.read();
    return jobs.reduce((sum, other) => sum + textOf(other).length, 0);
  }

  #checkRoom(job: Job, others: number): void {
    if (textOf(job).length <= SHORT_TEXT) return;
    let all = textOf(job).length + others;
    for (const other of this.#deps.scheduler.jobs()) if (other.id !== job.id) all += textOf(other).length;
    if (all <= MAX_TEXT) return;
    const field = job.payload.kind === 'systemEvent' ? 'text' : 'message';
    const problem = `is too long: all jobs together may have at most ${MAX_TEXT} characters of text`;
    throw wrongField(`payload.${field}`, problem, { separator: ' ' });
  }

  #circumstances() {
    return { nowMs: this.#deps.clock.now(), hostTimeZone: this.#deps.hostTimeZone };
  }

  #tell(action: 'added' | 'updated', jobId: string): void {
    const nextRunAtMs = this.#deps.scheduler.nextRunMs(jobId);
    this.#deps.publish({ jobId, action, ...(nextRunAtMs !== undefined && { nextRunAtMs }) });
  }
}

function checkThinking(payload: CronPayload | undefined): void {
  if (payload?.kind !== 'agentTurn' || payload.thinking === undefined) return;
  try {
    toThinkingLevel(payload.thinking);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    throw wrongField('payload.thinking', error.message, { cause: error });
  }
}

/** Whoever changes only other parts of a job does not take its destination over. */
function hasSameDestination(before: CronPayload, after: CronPayload): boolean {
  const [one, other] = [before, after].map((payload) =>
    payload.kind === 'agentTurn' && payload.deliver ? [payload.channel, payload.to] : [],
  );
  return isDeepStrictEqual(one, other);
}

const listedFar = (job: Job, far: FarJobs): ListedJob => ({
  job,
  machine: far.machineOf(job.id),
  missing: far.missingOf(job.id),
  nextRunMs: far.nextRunMs(job.id),
  runningSinceMs: far.runningSince(job.id),
});

const textOf = ({ payload }: Pick<Job, 'payload'>): string =>
  payload.kind === 'systemEvent' ? payload.text : payload.message;

const changedMeanwhile = (): GatewayError =>
  new GatewayError('CONFLICT', 'The job has been changed since it was read; read it again');

const unknownJob = (id: string): GatewayError =>
  new GatewayError('NOT_FOUND', `unknown cron job id: ${id.slice(0, 80)}`);
