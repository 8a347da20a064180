import { type ReadonlySignal, signal } from '@preact/signals';
import type { GatewayClient } from '../../../../protocol/client/ws-client.ts';
import type { CronExtendedJob, CronJob, CronSwitch } from '../../../../protocol/cron.ts';
import type { ParamsInput } from '../../../../protocol/index.ts';
import { wordsOf } from '../../../../protocol/words-of.ts';
import { type Reader, Reading } from '../reading/reading.ts';

interface Port {
  client: Reader & Pick<GatewayClient, 'on'>;
  newKey(): string;
}

type NewJob = Omit<ParamsInput<'cron.add'>, 'extended' | 'idempotencyKey'>;
export type JobPatch = ParamsInput<'cron.update'>['patch'];

/**
 * The scheduled jobs of the daemon. Nothing is read until the panel is first shown; from then on the list is kept
 * current.
 */
export class CronJobs {
  readonly #port: Port;
  readonly reading: Reading;
  readonly #jobs = signal<readonly CronExtendedJob[] | undefined>(undefined);
  readonly #switchedOffBy = signal<readonly CronSwitch[]>([]);
  #isFollowed = false;
  #isReading = false;
  /** Something has changed since the current read began. */
  #isStale = false;

  constructor(port: Port) {
    this.#port = port;
    this.reading = new Reading(port.client);
    port.client.on('cron', () => this.refreshLater());
  }

  /** Undefined until the first answer; sorted by next run, jobs without one last. */
  get jobs(): ReadonlySignal<readonly CronExtendedJob[] | undefined> {
    return this.#jobs;
  }

  /** The settings that switch schedules off; empty if schedules run. */
  get switchedOffBy(): ReadonlySignal<readonly CronSwitch[]> {
    return this.#switchedOffBy;
  }

  follow(): void {
    this.#isFollowed = true;
    this.refreshLater();
  }

  refreshLater(): void {
    this.#isStale = true;
    if (this.#isFollowed && !this.#isReading) void this.#read();
  }

  /** This and the next methods return an error message, or undefined on success. */
  add(job: NewJob): Promise<string | undefined> {
    return this.#attempt('cron.add', { ...job, idempotencyKey: this.#port.newKey() });
  }

  update(id: string, patch: JobPatch, expected: { revision?: number } = {}): Promise<string | undefined> {
    return this.#attempt('cron.update', { id, patch, ...expected });
  }

  remove(id: string): Promise<string | undefined> {
    return this.#attempt('cron.remove', { id });
  }

  /** Starts a run without waiting for its end. */
  async run(id: string): Promise<string | undefined> {
    try {
      const begun = await this.#port.client.call('cron.run', { id, mode: 'force', wait: false });
      return begun.ran ? undefined : 'This job is already running.';
    } catch (error) {
      return wordsOf(error);
    }
  }

  async #attempt<M extends 'cron.add' | 'cron.update' | 'cron.remove'>(
    method: M,
    params: ParamsInput<M>,
  ): Promise<string | undefined> {
    try {
      await this.#port.client.call<'cron.add' | 'cron.update' | 'cron.remove'>(method, params);
      this.refreshLater(); // the event may come later, or be missed
      return undefined;
    } catch (error) {
      return wordsOf(error);
    }
  }

  async #read(): Promise<void> {
    const { client } = this.#port;
    this.#isReading = true;
    while (this.#isStale) {
      this.#isStale = false;
      await this.reading.read(
        () =>
          Promise.all([
            client.call('cron.list', { includeDisabled: true, extended: true }),
            client.call('cron.status', { extended: true }),
          ]),
        ([{ jobs }, { switchedOffBy = [] }]) => {
          this.#jobs.value = jobs.filter(isExtended).sort(byNextRun);
          this.#switchedOffBy.value = switchedOffBy;
        },
      );
    }
    this.#isReading = false;
  }
}

/** The name of the job, or its id. */
export const jobName = ({ name, id }: Pick<CronJob, 'name' | 'id'>): string => name ?? id;

const isExtended = (job: CronJob | CronExtendedJob): job is CronExtendedJob => 'misfire' in job;

const byNextRun = (a: CronExtendedJob, b: CronExtendedJob): number =>
  (a.state.nextRunAtMs ?? Number.POSITIVE_INFINITY) - (b.state.nextRunAtMs ?? Number.POSITIVE_INFINITY) ||
  jobName(a).localeCompare(jobName(b));
