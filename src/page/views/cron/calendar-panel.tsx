import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import type { CronCalendarRun } from '../../../../protocol/cron.ts';
import type { App, Desk } from '../../state/app.ts';
import { type CalendarDay, JobCalendar, STATE_WORDS, toDays } from '../../state/cron/job-calendar.ts';
import { ReadingNotice } from '../reading-notice.tsx';

/** What all jobs did and will do, week by week. */
export function Calendar({ app, desk }: { app: App; desk: Desk }) {
  const { client } = desk;
  const { now, timeZone } = app;
  const calendar = useMemo(() => new JobCalendar({ client, now, timeZone }), [client, now, timeZone]);
  const jobs = desk.jobs.jobs.value;
  const isOpen = useSignal(false);
  // Again after every change of a job.
  useEffect(() => {
    if (isOpen.value) void calendar.read();
  }, [calendar, jobs, isOpen.value]);
  const read = calendar.runs.value;
  const form = calendar.form.value;
  const days = read ? toDays(read.weekMs, read.runs) : [];
  const move = (by: number) => () => void calendar.read(by === 0 ? 0 : calendar.week.peek() + by);
  return (
    <details
      class="calendar"
      onToggle={({ currentTarget }) => {
        isOpen.value = currentTarget.open;
      }}
    >
      <summary>Calendar</summary>
      <ReadingNotice of={[calendar.reading]} />
      <div class="calendar-bar">
        <button type="button" class="quiet" onClick={move(-1)}>
          Earlier
        </button>
        <button type="button" class="quiet" onClick={move(0)} disabled={calendar.week.value === 0}>
          This week
        </button>
        <button type="button" class="quiet" onClick={move(1)}>
          Later
        </button>
        <span class="calendar-forms">
          {(['week', 'list'] as const).map((one) => (
            <button
              key={one}
              type="button"
              class="quiet"
              aria-pressed={form === one}
              onClick={() => {
                calendar.form.value = one;
              }}
            >
              {one === 'week' ? 'Week' : 'List'}
            </button>
          ))}
        </span>
      </div>
      {read && <Zones daemon={read.tz} here={app.timeZone} />}
      {read?.runs.length === 0 && <p class="soft">No job ran or will run in this week.</p>}
      {read && read.runs.length > 0 && (
        <ol class={`calendar-days as-${form}`}>
          {days
            .filter(({ runs }) => form === 'week' || runs.length > 0)
            .map((day) => (
              <Day key={day.startMs} day={day} />
            ))}
        </ol>
      )}
      {read?.truncated && <p class="soft">There are more runs in this week than can be shown.</p>}
    </details>
  );
}

const Zones = ({ daemon, here }: { daemon: string; here: string }) => (
  <p class="soft">
    {daemon === here
      ? `Times in ${here}. A job may have a time zone of its own.`
      : `Times in ${here}, as in this browser. The daemon is in ${daemon}, and a job may have a time zone of its own.`}
  </p>
);

function Day({ day: { startMs, runs } }: { day: CalendarDay }) {
  const start = new Date(startMs);
  return (
    <li>
      <h2>{start.toLocaleDateString(undefined, { weekday: 'short', month: 'short', day: 'numeric' })}</h2>
      {runs.length === 0 ? (
        <p class="soft">no runs</p>
      ) : (
        <ul>
          {runs.map((run) => (
            <Run key={`${run.jobId} ${run.atMs} ${run.state}`} run={run} />
          ))}
        </ul>
      )}
    </li>
  );
}

function Run({ run: { atMs, name, state, more, count, error, forced } }: { run: CronCalendarRun }) {
  const at = new Date(atMs);
  const notes = [
    STATE_WORDS[state],
    ...(count === undefined ? [] : [`${count} times`]),
    ...(forced ? ['started by hand'] : []),
    ...(more ? ['and more on this day'] : []),
  ];
  return (
    <li class={`calendar-run is-${state}`} title={error}>
      <time dateTime={at.toISOString()}>
        {at.toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })}
      </time>{' '}
      <bdi>{name}</bdi> <span class="soft">{notes.join(', ')}</span>
    </li>
  );
}
