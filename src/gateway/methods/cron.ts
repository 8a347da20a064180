import type { CronSchedule } from '../../../protocol/cron.ts';
import { GatewayError } from '../../../protocol/errors.ts';
import type { Params, Result } from '../../../protocol/index.ts';
import type { cronContracts } from '../../../protocol/methods/cron.ts';
import { type Notice, warn } from '../../../protocol/notice.ts';
import { wrongField } from '../../../protocol/parse.ts';
import type { Job } from '../../cron/jobs/job.ts';
import { instantsBetween } from '../../cron/schedule/instants.ts';
import { nextOf } from '../../cron/schedule/next-of.ts';
import { preview, usedPeriod, zoneOf } from '../../cron/schedule/schedule.ts';
import { checkSchedule } from '../../cron/schedule/schedule-check.ts';
import { parseHumanSchedule } from '../../cron/schedule/schedule-text.ts';
import { describeInWords } from '../../cron/schedule/schedule-words.ts';
import { resolveTimeZone } from '../../cron/schedule/schedule-zone.ts';
import { until } from '../../timing/until.ts';
import { type Call, type Handlers, keptOf } from '../call.ts';
import type { Channels } from '../channels/channels.ts';
import { plannedRuns } from '../cron/calendar.ts';
import type { Cron } from '../cron/create-cron.ts';
import { explain, explainIdle, waitsFor } from '../cron/explain.ts';
import type { ListedJob } from '../cron/listed-job.ts';
import type { Occurrences } from '../cron/occurrences.ts';
import { type Placing, placeJob } from '../cron/place-job.ts';
import { toCronJob, toCronRun, toExtendedJob, toOccurrence } from '../cron/to-wire.ts';
import type { LiveSettings } from '../live-settings.ts';

export interface CronMethodDeps extends Pick<Placing, 'placement' | 'nodeId'> {
  cron: Pick<Cron, 'jobs' | 'scheduler' | 'elsewhere' | 'occurrences' | 'loaded'>;
  channels: Pick<Channels, 'noticesOf'>;
  live: Pick<LiveSettings, 'cron'>;
  storePath: string;
  clock: { now(): number };
  hostTimeZone: string;
}

const RUNS = 200;
const PREVIEWS = 10;
const DAY_MS = 86_400_000;

export function cronMethods(deps: CronMethodDeps): Handlers<keyof typeof cronContracts> {
  const { jobs, occurrences } = deps.cron;
  const toWire = (listed: ListedJob, { extended }: { extended?: boolean | undefined }) =>
    extended ? { ...toExtendedJob(listed), ...noticesAbout(listed, deps.channels) } : toCronJob(listed);
  /** Waits until the jobs are loaded, which takes a moment when there are many. */
  const onceLoaded =
    <A extends unknown[], R>(answer: (...asked: A) => R) =>
    async (...asked: A): Promise<Awaited<R>> => {
      await deps.cron.loaded();
      return await answer(...asked);
    };
  return {
    'cron.list': onceLoaded(async ({ includeDisabled = false, ...form }) => ({
      jobs: (await jobs.list({ includeDisabled })).map((listed) => toWire(listed, form)),
    })),
    'cron.status': onceLoaded(({ extended }) => statusOf(deps, { extended })),
    'cron.add': onceLoaded(async (asked, call) => {
      const kept = keptOf<{ id: string; madeMs: number }>(call);
      if (kept) return toWire(await jobs.asMade(asked, kept), asked);
      await placeJob(asked, deps);
      const added = await jobs.add(
        asked,
        ({ id, name, createdMs: madeMs }) => [...call.keep({ id, madeMs }), ...call.audited({ id, name })],
        { by: call.principal },
      );
      return toWire(jobs.listed(added), asked);
    }),
    'cron.update': onceLoaded(async (asked, { audited, principal }) => {
      const changed = Object.keys(asked.patch);
      const updated = await jobs.update({ ...asked, by: principal }, () => audited({ changed }));
      return toWire(jobs.listed(updated), asked);
    }),
    'cron.remove': onceLoaded(async ({ id }, { audited }) => ({
      ok: true,
      removed: await jobs.remove(id, () => audited()),
    })),
    'cron.run': onceLoaded((asked, call) => run(asked, call, deps)),
    'cron.runs': async ({ id, limit = RUNS, extended = false }) => {
      const rows = await occurrences.latest(id, { limit, isOver: !extended });
      return { entries: extended ? rows.map(toOccurrence) : rows.map(toCronRun) };
    },
    'cron.preview': (asked) => previewOf(asked, deps),
    'cron.calendar': onceLoaded((asked) => calendarOf(asked, deps)),
    'cron.explain': onceLoaded((asked) => explainJob(asked, deps)),
  };
}

async function statusOf(
  { cron, live, storePath }: CronMethodDeps,
  { extended }: Params<'cron.status'>,
): Promise<Result<'cron.status'>> {
  const { enabled, switchedOffBy } = live.cron;
  const listed = await cron.jobs.list({ includeDisabled: true });
  const others = listed.filter(({ job }) => !cron.scheduler.job(job.id)).flatMap(({ nextRunMs }) => nextRunMs ?? []);
  const next = [cron.scheduler.nextWakeMs() ?? [], ...others].flat();
  return {
    enabled,
    storePath,
    jobs: listed.length,
    nextWakeAtMs: enabled && next.length > 0 ? Math.min(...next) : null,
    ...(extended && { switchedOffBy: [...switchedOffBy] }),
  };
}

function noticesAbout(listed: ListedJob, channels: CronMethodDeps['channels']): { notices?: Notice[] } {
  const { notices: ofChannel = [] } = noticesOfChannel(listed.job, channels);
  const ofMachine = listed.missing === undefined ? [] : [warn('machine_missing', waitsFor(listed.missing))];
  const notices = [...ofChannel, ...ofMachine];
  return notices.length > 0 ? { notices } : {};
}

/** Which channel `last` means is only known at a run. */
function noticesOfChannel({ payload }: Job, channels: CronMethodDeps['channels']): { notices?: Notice[] } {
  if (payload.kind !== 'agentTurn' || !payload.deliver) return {};
  return channels.noticesOf(payload.channel?.trim().toLowerCase() ?? '');
}

async function run({ id, mode, wait = true }: Params<'cron.run'>, call: Call, { cron }: CronMethodDeps) {
  const kept = keptOf<{ scheduledMs: number }>(call);
  if (!kept) await cron.jobs.ofHere(id);
  else if (!cron.scheduler.job(id)) await cron.elsewhere.requireHere(id);
  const forced = kept
    ? { ran: true as const, ended: cron.scheduler.ended(id, kept.scheduledMs) }
    : await cron.scheduler.runNow(id, {
        force: mode === 'force',
        keep: (scheduledMs) => [...call.keep({ scheduledMs }), ...call.audited({ scheduledMs })],
      });
  if (!forced.ran) return { ok: true as const, ran: false as const, reason: forced.reason };
  if (wait && forced.ended) await until(forced.ended, call.signal);
  return { ok: true as const, ran: true as const };
}

function askedZone({ tz: typed }: { tz?: string | undefined }, { hostTimeZone }: CronMethodDeps): string {
  const tz = resolveTimeZone(typed, hostTimeZone);
  if (tz === undefined) throw new GatewayError('INVALID_REQUEST', 'tz is not a known time zone');
  return tz;
}

async function previewOf(params: Params<'cron.preview'>, deps: CronMethodDeps) {
  const { schedule: asked, count = PREVIEWS, fromMs, tz: typed } = params;
  const nowMs = deps.clock.now();
  const here = askedZone({ tz: typed }, deps);
  const { schedule, tz: zone } =
    typeof asked === 'string' ? parsed(asked, { nowMs, tz: here }) : { schedule: asked, tz: here };
  const wrong = checkSchedule(schedule, nowMs);
  if (wrong) throw wrongField(`schedule.${wrong.field}`, wrong.problem, { separator: ' ' });
  const tz = zoneOf(schedule, { tz: zone });
  const runs = preview(schedule, { fromMs: fromMs ?? nowMs, count, anchorMs: nowMs, tz });
  return {
    schedule: usedPeriod(schedule),
    description: await describeInWords(schedule, tz),
    tz,
    runs: runs.map(({ atMs, local, offset }) => ({ atMs, local, offset })),
  };
}

function parsed(text: string, context: { nowMs: number; tz: string }): { schedule: CronSchedule; tz: string } {
  const read = parseHumanSchedule(text, context);
  if ('problem' in read) throw new GatewayError('INVALID_REQUEST', `schedule: ${read.problem}`);
  return read;
}

async function calendarOf(asked: Params<'cron.calendar'>, deps: CronMethodDeps): Promise<Result<'cron.calendar'>> {
  const range = { fromMs: asked.fromMs, untilMs: asked.untilMs, tz: askedZone(asked, deps) };
  const { jobs, occurrences } = deps.cron;
  const listed = await jobs.list({ includeDisabled: true });
  const names = new Map(listed.map(({ job }) => [job.id, job.name]));
  const past = await occurrences.between(range, (id) => names.get(id));
  const planned = deps.live.cron.enabled ? await plannedRuns(listed, range) : { runs: [], truncated: false };
  const truncated = past.truncated || planned.truncated;
  return {
    tz: deps.hostTimeZone,
    runs: [...past.runs, ...planned.runs],
    ...(truncated && { truncated: true as const }),
  };
}

async function explainJob({ id, atMs }: Params<'cron.explain'>, deps: CronMethodDeps): Promise<Result<'cron.explain'>> {
  const { jobs, occurrences } = deps.cron;
  const listed = await jobs.get(id);
  const { job, runningSinceMs, missing } = listed;
  const nowMs = deps.clock.now();
  const asked = atMs === undefined ? await currentOf(listed, deps) : await meantBy(atMs, job, occurrences);
  const told =
    asked === undefined
      ? explainIdle(job)
      : explain({
          job,
          row: await occurrences.at(id, asked),
          nowMs,
          atMs: asked,
          isRunning: runningSinceMs !== undefined,
          missing,
          switchedOffBy: deps.live.cron.switchedOffBy,
          keptSinceMs: nowMs - deps.live.cron.retentionDays * DAY_MS,
        });
  const aroundMs = asked ?? nowMs;
  const nextAtMs = nextOf(job.schedule, aroundMs);
  const previousAtMs = previousOf(job, aroundMs);
  return {
    jobId: id,
    atMs: aroundMs,
    ...told,
    ...(nextAtMs !== undefined && { nextAtMs }),
    ...(previousAtMs !== undefined && { previousAtMs }),
  };
}

/** Maps a time in whole seconds to the job's instant within that second, because instants have milliseconds. */
async function meantBy(atMs: number, job: Job, occurrences: Occurrences): Promise<number> {
  const next = job.schedule.kind === 'at' ? job.schedule.atMs : nextOf(job.schedule, atMs - 1);
  if (atMs % 1000 !== 0 || next === atMs || (await occurrences.at(job.id, atMs))) return atMs;
  const throughMs = atMs + 999;
  const row = await occurrences.at(job.id, atMs, throughMs);
  if (row) return row.scheduled_ms;
  return next !== undefined && next > atMs && next <= throughMs ? next : atMs;
}

/** The instant that a job runs at or waits for; undefined when there is none. */
async function currentOf({ job, nextRunMs }: ListedJob, { cron }: CronMethodDeps): Promise<number | undefined> {
  const open = await cron.occurrences.open(job.id);
  return open?.scheduled_ms ?? (job.schedule.kind === 'at' ? job.schedule.atMs : nextRunMs);
}

/** Its last instant before a time, but not before its creation. */
function previousOf({ schedule, createdMs }: Job, beforeMs: number): number | undefined {
  const first = nextOf(schedule, createdMs);
  if (first === undefined || first >= beforeMs) return undefined;
  return instantsBetween(schedule, { fromMs: first, untilMs: beforeMs - 1 }).latest.at(-1);
}
