import { type ReadonlySignal, signal } from '@preact/signals';
import type { CronCalendarRun } from '../../../../protocol/cron.ts';
import type { Result } from '../../../../protocol/index.ts';
import { type Reader, Reading } from '../reading/reading.ts';

const DAY_MS = 86_400_000;
const DAYS = 7;

/** A day of the calendar, in the time zone of the page. */
export interface CalendarDay {
  /** Its first moment. */
  startMs: number;
  runs: readonly CronCalendarRun[];
}

type Read = Result<'cron.calendar'> & { weekMs: number };

/** The recorded and planned runs of a week. The daemon computes them, so that they match the later runs. */
export class JobCalendar {
  readonly #client: Reader;
  readonly reading: Reading;
  readonly #now: () => number;
  readonly #timeZone: string;
  readonly #read = signal<Read | undefined>(undefined);
  /** Weeks from this one. */
  readonly week = signal(0);
  readonly form = signal<'week' | 'list'>('week');

  constructor({ client, now, timeZone }: { client: Reader; now(): number; timeZone: string }) {
    this.#client = client;
    this.reading = new Reading(client);
    this.#now = now;
    this.#timeZone = timeZone;
  }

  /** Undefined until the first answer. */
  get runs(): ReadonlySignal<Read | undefined> {
    return this.#read;
  }

  read(week: number = this.week.peek()): Promise<void> {
    this.week.value = week;
    const weekMs = toMonday(this.#now(), week);
    const untilMs = addDays(weekMs, DAYS);
    const asked = { fromMs: Math.max(0, weekMs), untilMs, tz: this.#timeZone };
    return this.reading.read(
      () => this.#client.call('cron.calendar', asked),
      (answer) => {
        this.#read.value = { ...answer, weekMs };
      },
    );
  }
}

/** The first moment of a week in local time. */
export function toMonday(nowMs: number, week: number): number {
  const now = new Date(nowMs);
  const sinceMonday = (now.getDay() + 6) % DAYS;
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() - sinceMonday + week * DAYS).getTime();
}

/** In local time: a day may have 23 or 25 hours. */
function addDays(dayMs: number, days: number): number {
  const day = new Date(dayMs);
  return new Date(day.getFullYear(), day.getMonth(), day.getDate() + days).getTime();
}

/** The seven days of a week with their runs. */
export function toDays(weekMs: number, runs: readonly CronCalendarRun[]): CalendarDay[] {
  const starts = Array.from({ length: DAYS }, (_, index) => addDays(weekMs, index));
  return starts.map((startMs, index) => {
    const endMs = starts[index + 1] ?? startMs + 2 * DAY_MS;
    return { startMs, runs: runs.filter(({ atMs }) => startMs <= atMs && atMs < endMs) };
  });
}

/** What became of a run, or that it is to come. */
export const STATE_WORDS: Record<CronCalendarRun['state'], string> = {
  planned: 'planned',
  running: 'running',
  ok: 'ok',
  error: 'failed',
  skipped: 'skipped',
  missed: 'missed',
  interrupted: 'interrupted',
};
