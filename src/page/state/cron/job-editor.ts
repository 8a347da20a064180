import { computed, signal } from '@preact/signals';
import type { GatewayClient } from '../../../../protocol/client/ws-client.ts';
import type { CronExtendedJob, CronSchedule } from '../../../../protocol/cron.ts';
import type { CronJobs, JobPatch } from './cron-jobs.ts';
import { type DraftField, isRescheduled, type JobDraft, type Problems, toDraft, toJobFields } from './job-draft.ts';
import { SchedulePreview } from './schedule-preview.ts';

interface Port {
  client: Pick<GatewayClient, 'call'>;
  jobs: Pick<CronJobs, 'add' | 'update'>;
  timeZone: string;
}

/** The state of the form for a new or an edited job, until it is saved. */
export class JobEditor {
  readonly #port: Port;
  readonly #job: CronExtendedJob | undefined;
  readonly #problems = signal<Problems>({});
  readonly draft;
  readonly preview: SchedulePreview;
  /** Error messages by field, including the daemon's about the schedule. */
  readonly problems = computed((): Problems => {
    const state = this.preview.state.value;
    return { ...(state.kind === 'problem' && { when: state.message }), ...this.#problems.value };
  });
  /** Why the daemon refused the job. */
  readonly refusal = signal<string | undefined>(undefined);
  readonly isSaving = signal(false);

  constructor(port: Port, job?: CronExtendedJob) {
    this.#port = port;
    this.#job = job;
    this.draft = signal(toDraft(job, port.timeZone));
    this.preview = new SchedulePreview(port);
  }

  set<F extends DraftField>(field: F, value: JobDraft[F]): void {
    this.draft.value = { ...this.draft.peek(), [field]: value };
    const { [field]: _solved, ...others } = this.#problems.peek();
    this.#problems.value = others;
  }

  /** Previews the schedule as typed. */
  readSchedule(): ReturnType<SchedulePreview['read']> {
    return this.preview.read(this.#kept() ?? this.draft.peek().when);
  }

  /** Returns true if the job was saved. Otherwise `problems` or `refusal` has the reason. */
  async save(): Promise<boolean> {
    if (this.isSaving.peek()) return false;
    this.isSaving.value = true;
    try {
      return await this.#save();
    } finally {
      this.isSaving.value = false;
    }
  }

  async #save(): Promise<boolean> {
    const draft = this.draft.peek();
    const checked = toJobFields(draft);
    this.refusal.value = undefined;
    this.#problems.value = 'problems' in checked ? checked.problems : {};
    if ('problems' in checked) return false;
    const schedule = this.#kept() ?? (await this.#read());
    if (schedule === undefined) return false;
    const { jobs } = this.#port;
    const fields = { ...checked.fields, deleteAfterRun: draft.deleteAfterRun && schedule.kind === 'at' };
    this.refusal.value = await (this.#job
      ? jobs.update(
          this.#job.id,
          { ...fields, ...(this.#kept() ? {} : { schedule }), ...this.#misfire(fields) },
          { revision: this.#job.revision }, // refuses to overwrite a change made elsewhere since
        )
      : jobs.add({ ...fields, schedule }));
    return this.refusal.peek() === undefined;
  }

  /** An unedited policy is not sent, so that the daemon can choose the default for a new schedule. */
  #misfire({ misfire }: JobPatch): Pick<JobPatch, 'misfire'> {
    const before = toDraft(this.#job, this.#port.timeZone);
    const draft = this.draft.peek();
    const fields = ['misfire', 'withinMinutes', 'allCount'] as const;
    return { misfire: fields.some((field) => draft[field] !== before[field]) ? misfire : undefined };
  }

  /** The job's schedule, unless it was edited. */
  #kept(): CronSchedule | undefined {
    const { timeZone } = this.#port;
    const schedule = this.#job?.schedule;
    return schedule && !isRescheduled(this.draft.peek(), schedule, timeZone) ? schedule : undefined;
  }

  async #read(): Promise<CronSchedule | undefined> {
    const previewed = await this.preview.read(this.draft.peek().when);
    return previewed.kind === 'read' ? previewed.preview.schedule : undefined;
  }
}
