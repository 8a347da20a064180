import { setImmediate as nextTurn } from 'node:timers/promises';
import type { CronCalendarRun } from '../../../protocol/cron.ts';
import type { Job } from '../../cron/jobs/job.ts';
import { nextOf } from '../../cron/schedule/next-of.ts';
import { DAY_MS, placeWall, toWallMs } from '../../cron/schedule/schedule-zone.ts';
import type { CronOccurrenceTable } from '../store/schema/cron-schema.ts';
import type { Store } from '../store/store.ts';
import type { ListedJob } from './listed-job.ts';
import { toOccurrence } from './to-wire.ts';

/** Runs of a calendar; the same for those that come and for those that were. */
const MOST = 1_000;
/** Times of one job on one day. The last one says if there are more. */
const PER_DAY = 4;
/** Jobs per turn of the event loop. */
const AT_ONCE = 100;

/** Times from `fromMs` until before `untilMs`. */
export interface CalendarRange {
  fromMs: number;
  untilMs: number;
}

/** In a time zone, in which the first day begins with the range. */
interface PlannedRange extends CalendarRange {
  tz: string;
}

/** Runs by time, and whether some were left out. */
export interface CalendarRuns {
  runs: CronCalendarRun[];
  truncated: boolean;
}

/** The runs that schedulers have planned in a range: the earliest of all jobs. `nextRunMs`: after pauses, too. */
export async function plannedRuns(
  jobs: readonly Pick<ListedJob, 'job' | 'nextRunMs'>[],
  { fromMs, untilMs, tz }: PlannedRange,
): Promise<CalendarRuns> {
  const days = dayStarts({ fromMs, untilMs, tz });
  let runs: CronCalendarRun[] = [];
  let endMs = untilMs;
  let truncated = false;
  for (const [index, { job, nextRunMs }] of jobs.entries()) {
    if (index % AT_ONCE === AT_ONCE - 1) await nextTurn();
    runs.push(...timesOf(job, nextRunMs, { days, untilMs: endMs }));
    if (runs.length < 2 * MOST) continue;
    // Later times than these are not shown, so none of them has to be computed.
    runs = earliest(runs);
    endMs = runs.at(-1)?.atMs ?? endMs;
    truncated = true;
  }
  return { runs: earliest(runs), truncated: truncated || runs.length > MOST };
}

const earliest = (runs: CronCalendarRun[]): CronCalendarRun[] =>
  runs.sort((one, other) => one.atMs - other.atMs).slice(0, MOST);

const timeAfter = ({ schedule }: Job, ms: number): number | undefined =>
  schedule.kind === 'at' ? undefined : nextOf(schedule, ms);

/** When the days of a range begin, and the one after them. A day has 23 or 25 hours when the clock changes. */
function dayStarts({ fromMs, untilMs, tz }: PlannedRange): number[] {
  const firstMs = toWallMs(tz, fromMs);
  const starts = [fromMs];
  for (let day = 1; ; day += 1) {
    const atMs = startOf(tz, firstMs + day * DAY_MS);
    if (atMs > (starts.at(-1) ?? fromMs)) starts.push(atMs); // a zone may leave out a whole day
    if (atMs >= untilMs) return starts;
  }
}

/** When the clock first shows a time, or goes beyond it. */
function startOf(tz: string, wallMs: number): number {
  const place = placeWall(tz, wallMs);
  if (place.kind === 'once') return place.atMs;
  return place.kind === 'twice' ? place.firstMs : place.gap.atMs;
}

interface Days {
  /** Their starts, and the end of the last one. */
  days: readonly number[];
  untilMs: number;
}

/** A few times of each day. */
function timesOf(job: Job, firstMs: number | undefined, { days, untilMs }: Days): CronCalendarRun[] {
  const [fromMs = untilMs] = days;
  const times: CronCalendarRun[] = [];
  const { id: jobId, name = jobId } = job;
  const after = (ms: number) => timeAfter(job, ms);
  let atMs = firstMs !== undefined && firstMs < fromMs ? after(fromMs - 1) : firstMs;
  let [shown, endMs] = [0, fromMs];
  while (atMs !== undefined && atMs < untilMs) {
    if (atMs >= endMs) [shown, endMs] = [0, endOf(days, atMs)];
    const next = after(atMs);
    const isSameDay = next !== undefined && next < endMs;
    shown += 1;
    const more = isSameDay && shown === PER_DAY;
    times.push({ jobId, name, atMs, state: 'planned', ...(more && { more: true as const }) });
    atMs = more ? after(endMs - 1) : next;
  }
  return times;
}

/** The end of the day of a time. */
const endOf = (days: readonly number[], atMs: number): number =>
  days.find((startMs) => startMs > atMs) ?? Number.POSITIVE_INFINITY;

/** The recorded runs of a range, and those in progress: the latest. */
export async function pastRuns(
  { db }: Pick<Store, 'db'>,
  { fromMs, untilMs }: CalendarRange,
  nameOf: (jobId: string) => string | undefined,
): Promise<CalendarRuns> {
  const all = db.selectFrom('cron_occurrences').selectAll();
  const inRange = all.where('scheduled_ms', '<', untilMs).limit(MOST + 1);
  const [ended, open] = await Promise.all([
    // By the time of the end, which has an index. A run that began in the range ended in it, or later.
    inRange.where('ended_ms', '>=', fromMs).where('scheduled_ms', '>=', fromMs).orderBy('ended_ms', 'desc').execute(),
    inRange.where('ended_ms', 'is', null).where('scheduled_ms', '>=', fromMs).execute(),
  ]);
  const rows = [...ended.slice(0, MOST), ...open.slice(0, MOST)];
  const runs = rows.map((row) => toRun(row, nameOf(row.job_id))).sort((one, other) => one.atMs - other.atMs);
  return { runs: runs.slice(-MOST), truncated: ended.length > MOST || runs.length > MOST };
}

function toRun(row: CronOccurrenceTable, name: string | undefined): CronCalendarRun {
  const { jobId, scheduledAtMs: atMs, status, error, durationMs, count, trigger } = toOccurrence(row);
  return {
    jobId,
    name: name ?? jobId,
    atMs,
    state: status ?? 'running',
    ...(error !== undefined && { error }),
    ...(durationMs !== undefined && { durationMs }),
    ...(count !== undefined && { count }),
    ...(trigger === 'forced' && { forced: true }),
  };
}
