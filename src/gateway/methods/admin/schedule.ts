import { GatewayError } from '../../../../protocol/errors.ts';
import type { Result } from '../../../../protocol/index.ts';
import type { scheduleContracts } from '../../../../protocol/methods/admin/schedule.ts';
import type { Job } from '../../../cron/jobs/job.ts';
import type { Handlers } from '../../call.ts';
import type { Cron } from '../../cron/create-cron.ts';
import { type Placing, placeJob } from '../../cron/place-job.ts';
import { toOccurrence } from '../../cron/to-wire.ts';
import { changeOf, inWordsOfHttp, jobOf, notFound, targetOf, toSchedule } from '../../schedules/schedule-form.ts';
import type { Store } from '../../store/store.ts';

interface ScheduleMethodDeps extends Pick<Placing, 'placement'> {
  cron: Pick<Cron, 'jobs' | 'scheduler' | 'elsewhere' | 'occurrences' | 'loaded'>;
  store: Pick<Store, 'db'>;
  server: { nodeId: string };
  clock: { now(): number };
}

/** The most that administrators make here; `cron.add` has a limit of its own. */
const MOST = 200;
const RUNS = 50;

export function scheduleMethods({ cron, placement, store, server, clock }: ScheduleMethodDeps) {
  const { jobs, occurrences } = cron;
  const { nodeId } = server;
  const shown = (job: Job) => toSchedule(jobs.listed(job));
  const here = () => ({ nowMs: clock.now(), nodeId, placement });
  /** Waits until the jobs are loaded, and speaks of schedules. */
  const asSchedules =
    <A extends unknown[], R>(answer: (...asked: A) => R) =>
    async (...asked: A): Promise<Awaited<R>> => {
      await cron.loaded();
      try {
        return await answer(...asked);
      } catch (error) {
        throw inWordsOfHttp(error);
      }
    };
  return {
    'schedule.list': asSchedules(async () => {
      const listed = await jobs.list({ includeDisabled: true });
      return { schedules: listed.sort((a, b) => b.job.createdMs - a.job.createdMs).map(toSchedule) };
    }),
    'schedule.create': asSchedules(async (form, { principal, audited }) => {
      const { asked, label } = jobOf(form, here());
      const listed = await jobs.list({ includeDisabled: true });
      const made = listed.filter(({ job }) => job.label !== undefined);
      if (made.length >= MOST) throw new GatewayError('CONFLICT', `Maximum of ${MOST} schedules reached`);
      await placeJob({ ...asked, nodeId: targetOf(label.targetMode, nodeId) }, { placement, nodeId, cron });
      const createdBy = principal?.userId ?? principal?.id ?? '';
      const job = await jobs.add(asked, ({ id, name }) => audited({ id, name }), {
        by: principal,
        label: { ...label, createdBy },
      });
      return shown(job);
    }),
    'schedule.get': asSchedules(async ({ taskId }) => toSchedule(await jobs.get(taskId))),
    'schedule.update': asSchedules(async ({ taskId, ...form }, { audited, principal }) => {
      const change = changeOf(form, await jobs.ofHere(taskId), here());
      const updated = await jobs.update({ id: taskId, ...change, by: principal }, () =>
        audited({ changed: Object.keys(change.patch) }),
      );
      return shown(updated);
    }),
    'schedule.delete': asSchedules(async ({ taskId }, { audited }) => {
      if (!(await jobs.remove(taskId, () => audited()))) throw notFound();
      return { status: 'ok' };
    }),
    'schedule.runs': asSchedules(async ({ taskId, limit = RUNS }) => {
      await jobs.get(taskId);
      const rows = (await occurrences.latest(taskId, { limit, isOver: false })).reverse();
      const places = await workstreamsOf(
        store.db,
        rows.flatMap(({ run_id }) => run_id ?? []),
      );
      const placeOf = ({ machine, run_id }: (typeof rows)[number]) => ({
        nodeId: machine ?? nodeId,
        wsId: places.get(run_id ?? '') ?? '',
      });
      return { runs: rows.map((row) => toRun(toOccurrence(row), placeOf(row))) };
    }),
  } satisfies Handlers<keyof typeof scheduleContracts>;
}

async function workstreamsOf(db: Store['db'], runIds: string[]): Promise<ReadonlyMap<string, string>> {
  const rows = await db.selectFrom('runs').select(['run_id', 'ws_id']).where('run_id', 'in', runIds).execute();
  return new Map(rows.map((row) => [row.run_id, row.ws_id]));
}

type Row = ReturnType<typeof toOccurrence>;

const toRun = (row: Row, at: { nodeId: string; wsId: string }): Result<'schedule.runs'>['runs'][number] => ({
  // A time has no other name: it may have had no run, and a retry has another run.
  runId: `${row.jobId}@${row.scheduledAtMs}`,
  taskId: row.jobId,
  ...at,
  correlationId: row.runId ?? '',
  startedAtMs: row.runAtMs ?? row.scheduledAtMs,
  status: statusOf(row),
  outcome: row.status ?? 'running',
  error: row.error ?? '',
});

function statusOf({ status, runAtMs }: Row): 'dispatched' | 'skipped' | 'missed' | 'pending' {
  if (runAtMs !== undefined) return 'dispatched';
  if (status === undefined) return 'pending';
  return status === 'missed' ? 'missed' : 'skipped';
}
