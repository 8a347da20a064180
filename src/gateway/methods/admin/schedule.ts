import { GatewayError } from '../../../../protocol/errors.ts';
import type { Result } from '../../../../protocol/index.ts';
import type { scheduleContracts } from '../../../../protocol/methods/admin/schedule.ts';
import type { Handlers } from '../../call.ts';
import type { Cron } from '../../cron/create-cron.ts';
import { toOccurrence } from '../../cron/to-wire.ts';
import { changeOf, inWordsOfHttp, jobOf, notFound, toSchedule } from '../../schedules/schedule-form.ts';
import type { Store } from '../../store/store.ts';

interface ScheduleMethodDeps {
  cron: Pick<Cron, 'jobs' | 'scheduler' | 'occurrences' | 'loaded'>;
  store: Pick<Store, 'db'>;
  server: { nodeId: string };
  clock: { now(): number };
}

/** The most that administrators make here; `cron.add` has a limit of its own. */
const MOST = 200;
const RUNS = 50;

export function scheduleMethods({ cron, store, server, clock }: ScheduleMethodDeps) {
  const { jobs, scheduler, occurrences } = cron;
  const { nodeId } = server;
  const shown = (id: string) => toSchedule(jobs.get(id), scheduler.nextRunMs(id));
  const here = () => ({ nowMs: clock.now(), nodeId });
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
    'schedule.list': asSchedules(() => ({
      schedules: jobs
        .list({ includeDisabled: true })
        .sort((a, b) => b.createdMs - a.createdMs)
        .map((job) => toSchedule(job, scheduler.nextRunMs(job.id))),
    })),
    'schedule.create': asSchedules(async (form, { principal, audited }) => {
      const { asked, label } = jobOf(form, here());
      const made = jobs.list({ includeDisabled: true }).filter((job) => job.label !== undefined);
      if (made.length >= MOST) throw new GatewayError('CONFLICT', `Maximum of ${MOST} schedules reached`);
      const createdBy = principal?.userId ?? principal?.id ?? '';
      const job = await jobs.add(asked, ({ id, name }) => audited({ id, name }), {
        by: principal,
        label: { ...label, createdBy },
      });
      return shown(job.id);
    }),
    'schedule.get': asSchedules(({ taskId }) => shown(taskId)),
    'schedule.update': asSchedules(async ({ taskId, ...form }, { audited, principal }) => {
      const change = changeOf(form, jobs.get(taskId), here());
      await jobs.update({ id: taskId, ...change, by: principal }, () =>
        audited({ changed: Object.keys(change.patch) }),
      );
      return shown(taskId);
    }),
    'schedule.delete': asSchedules(async ({ taskId }, { audited }) => {
      if (!(await jobs.remove(taskId, () => audited()))) throw notFound();
      return { status: 'ok' };
    }),
    'schedule.runs': asSchedules(async ({ taskId, limit = RUNS }) => {
      jobs.get(taskId);
      const rows = (await occurrences.latest(taskId, { limit, isOver: false })).reverse().map(toOccurrence);
      const places = await workstreamsOf(
        store.db,
        rows.flatMap(({ runId }) => runId ?? []),
      );
      return { runs: rows.map((row) => toRun(row, { nodeId, wsId: places.get(row.runId ?? '') ?? '' })) };
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
