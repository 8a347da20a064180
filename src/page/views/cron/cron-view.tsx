import { useSignal } from '@preact/signals';
import { Fragment } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import type { CronExtendedJob, CronSwitch } from '../../../../protocol/cron.ts';
import { isOver } from '../../../../protocol/job-over.ts';
import type { App, Desk } from '../../state/app.ts';
import { jobName } from '../../state/cron/cron-jobs.ts';
import { ScheduleWords } from '../../state/cron/schedule-words.ts';
import styles from '../../styles/cron-runs.css?inline';
import { Icon } from '../icons.tsx';
import { type Overlay, useOwnOverlay } from '../overlay.ts';
import { Panel, toCount } from '../panel.tsx';
import { adoptStyles } from '../parts/adopt-styles.ts';
import { ReadingNotice } from '../reading-notice.tsx';
import { useNow } from '../use-now.ts';
import { Calendar } from './calendar-panel.tsx';
import { CronJobCard } from './cron-job-card.tsx';
import { JobDialog } from './job-dialog.tsx';

adoptStyles(styles);

interface CronViewProps {
  app: App;
  desk: Desk;
  overlay: Overlay;
}

/** The scheduled jobs. */
export function CronView({ app, desk, overlay }: CronViewProps) {
  const { jobs: board } = desk;
  const edited = useSignal<CronExtendedJob | undefined>(undefined);
  const now = useNow(app.now);
  const words = useMemo(() => new ScheduleWords({ client: desk.client, timeZone: app.timeZone }), [desk, app]);
  useEffect(() => board.follow(), [board]);
  const jobs = board.jobs.value;
  const mayChange = app.rights.changeJobs.value;
  const { isOpen, open, close } = useOwnOverlay(overlay, 'job', mayChange);
  const edit = (job: CronExtendedJob | undefined) => {
    edited.value = job;
    open();
  };
  return (
    <Panel
      name="cron"
      title="Schedule"
      count={toCount(jobs?.length, 'job')}
      action={
        mayChange && (
          <button type="button" class="primary" onClick={() => edit(undefined)}>
            <Icon name="plus" />
            <span>Add a job</span>
          </button>
        )
      }
      desk={desk}
    >
      <ReadingNotice of={[board.reading]} />
      {board.switchedOffBy.value.length > 0 && <SwitchedOff by={board.switchedOffBy.value} />}
      <Alerts jobs={jobs ?? []} />
      {jobs?.length === 0 && <NoJobs mayChange={mayChange} />}
      {jobs && jobs.length > 0 && <Calendar app={app} desk={desk} />}
      <ul>
        {jobs?.map((job) => (
          <CronJobCard key={job.id} app={app} desk={desk} job={job} now={now} words={words} onEdit={() => edit(job)} />
        ))}
      </ul>
      {isOpen && <JobDialog app={app} desk={desk} job={edited.value} onClose={close} />}
    </Panel>
  );
}

const SWITCHES: Record<CronSwitch, string> = {
  'cron.enabled': ' in config.json',
  HEADGATE_SKIP_CRON: ' in the environment of the daemon',
};

const SwitchedOff = ({ by }: { by: readonly CronSwitch[] }) => (
  <p class="panel-note">
    <Icon name="warning" />
    <span>
      Schedules are switched off (
      {by.map((one, index) => (
        <Fragment key={one}>
          {index > 0 && ' and '}
          <code>{one}</code>
          {SWITCHES[one]}
        </Fragment>
      ))}
      ): nothing runs automatically.
    </span>
  </p>
);

/** Lists the jobs that keep failing, above all jobs. */
function Alerts({ jobs }: { jobs: readonly CronExtendedJob[] }) {
  const failing = jobs.filter((job) => job.state.alert && (job.enabled || isOver(job)));
  if (failing.length === 0) return null;
  const what = failing.length === 1 ? 'A job keeps failing' : `${failing.length} jobs keep failing`;
  return (
    <p class="panel-note alert" role="status">
      <Icon name="warning" />
      <span>
        {what}: {failing.map(jobName).join(', ')}.
      </span>
    </p>
  );
}

const NoJobs = ({ mayChange }: { mayChange: boolean }) => (
  <div class="panel-none">
    <span class="mark big">
      <Icon name="clock" />
    </span>
    <h2>Nothing is scheduled</h2>
    <p>
      A job is a task that the agent runs on a schedule. Enter what to do and when, such as <code>every 15m</code>,{' '}
      <code>at 18:00</code> or <code>0 9 * * 1-5</code> (at nine, Monday to Friday).
    </p>
    {mayChange ? (
      <p>
        Choose “Add a job”, or run <code>headgate cron add</code> in a terminal.
      </p>
    ) : (
      <p>Read-only access: adding jobs requires the approve scope.</p>
    )}
  </div>
);
