import { type Signal, useSignal } from '@preact/signals';
import type { CronExtendedJob } from '../../../../protocol/cron.ts';
import { isOver } from '../../../../protocol/job-over.ts';
import type { App, Desk } from '../../state/app.ts';
import { jobName } from '../../state/cron/cron-jobs.ts';
import type { ScheduleWords } from '../../state/cron/schedule-words.ts';
import { toClock, toDistance } from '../../state/text/moment.ts';
import { LossQuestion } from '../dialogs/loss-question.tsx';
import { Icon } from '../icons.tsx';
import { CronRunList } from './cron-run-list.tsx';
import { CronStatusMark } from './cron-status-mark.tsx';

interface CronJobCardProps {
  app: App;
  desk: Desk;
  job: CronExtendedJob;
  /** The current time. */
  now: Signal<number>;
  words: ScheduleWords;
  onEdit(): void;
}

/** One job: its schedule, its last result, its buttons and its history. */
export function CronJobCard({ app, desk, job, now, words, onEdit }: CronJobCardProps) {
  const isOpen = useSignal(false);
  const isDeleting = useSignal(false);
  const problem = useSignal<string | undefined>(undefined);
  const name = jobName(job);
  const attempt = async (what: Promise<string | undefined>) => {
    problem.value = undefined;
    problem.value = await what;
  };
  return (
    <li class={`panel-row job ${job.enabled ? '' : 'off'}`}>
      <div class="job-main">
        <div class="job-what">
          <h2>
            {name}
            {job.sessionTarget === 'main' && <span class="tag">main</span>}
            {!job.enabled && <span class="tag">{isOver(job) ? 'over' : 'off'}</span>}
          </h2>
          <p class="job-when">{words.of(job.schedule)}</p>
        </div>
        <JobTimes app={app} job={job} now={now} />
        {app.rights.changeJobs.value && (
          <JobActions
            desk={desk}
            job={job}
            attempt={(what) => void attempt(what)}
            onEdit={onEdit}
            onDelete={() => {
              isDeleting.value = true;
            }}
          />
        )}
      </div>
      {job.notices?.map(({ code, text }) => (
        <p class="soft" key={code}>
          {text}
        </p>
      ))}
      {job.state.alert && <p class="job-alert">Alert: {job.state.consecutiveErrors} errors in a row.</p>}
      <p class="problem" role="alert">
        {problem.value}
      </p>
      {isDeleting.value && (
        <LossQuestion
          name={name}
          loss="permanently? A run in progress still finishes. The history is kept for a while."
          remove={() => desk.jobs.remove(job.id)}
          onKeep={() => {
            isDeleting.value = false;
          }}
        />
      )}
      <button
        type="button"
        class="quiet panel-more job-more"
        aria-expanded={isOpen.value}
        aria-label={`History of ${name}`}
        onClick={() => {
          isOpen.value = !isOpen.value;
        }}
      >
        <Icon name="chevron" />
        History
      </button>
      {isOpen.value && <CronRunList app={app} desk={desk} job={job} now={now} />}
    </li>
  );
}

function JobTimes({ app, job, now }: Pick<CronJobCardProps, 'app' | 'job' | 'now'>) {
  const { nextRunAtMs, runningAtMs, backoffUntilMs = 0 } = job.state;
  const place = { nowMs: now.value, timeZone: app.timeZone };
  return (
    <div class="job-times">
      <p class="job-next">
        {nextRunAtMs === undefined ? (
          <span class="soft">{toIdle(job)}</span>
        ) : (
          <>
            <span title={new Date(nextRunAtMs).toLocaleString()}>{toClock(nextRunAtMs, place)}</span>{' '}
            <span class="soft">{nextRunAtMs > now.value ? toDistance(nextRunAtMs, now.value) : 'due'}</span>
          </>
        )}
      </p>
      <p class="job-last">
        {runningAtMs === undefined ? (
          <LastRun job={job} nowMs={now.value} />
        ) : (
          <CronStatusMark status="running" words={`running since ${toClock(runningAtMs, place)}`} />
        )}
      </p>
      {job.nodeId !== undefined && <p class="soft">on {job.nodeId}</p>}
      {backoffUntilMs > now.value && <p class="soft">paused until {toClock(backoffUntilMs, place)} after errors</p>}
    </div>
  );
}

function toIdle(job: CronExtendedJob): string {
  if (job.enabled) return 'No next run';
  if (!isOver(job)) return 'Does not run';
  return job.state.lastStatus === 'missed' ? 'Missed: it will not run' : 'No further runs';
}

function LastRun({ job, nowMs }: { job: CronExtendedJob; nowMs: number }) {
  const { lastStatus, lastRunAtMs, lastScheduledAtMs, lastError, consecutiveErrors = 0, alert } = job.state;
  if (lastStatus === undefined) return <span class="soft">No runs yet</span>;
  const atMs = lastRunAtMs ?? lastScheduledAtMs;
  const times = lastStatus === 'error' && consecutiveErrors > 1 && !alert ? ` (${consecutiveErrors} in a row)` : '';
  const ago = atMs === undefined ? '' : `, ${toDistance(atMs, nowMs)}`;
  return (
    <>
      <CronStatusMark status={lastStatus} after={`${times}${ago}`} />
      {lastError !== undefined && lastStatus !== 'ok' && <span class="job-reason">{lastError}</span>}
    </>
  );
}

interface JobActionsProps {
  desk: Desk;
  job: CronExtendedJob;
  attempt(what: Promise<string | undefined>): void;
  onEdit(): void;
  onDelete(): void;
}

function JobActions({ desk, job, attempt, onEdit, onDelete }: JobActionsProps) {
  const name = jobName(job);
  return (
    <div class="row-actions job-actions">
      <button
        type="button"
        class="quiet icon-only"
        aria-label={`Run ${name} now`}
        title="Run now"
        disabled={job.state.runningAtMs !== undefined}
        onClick={() => attempt(desk.jobs.run(job.id))}
      >
        <Icon name="play" />
      </button>
      <button type="button" class="quiet icon-only" aria-label={`Edit ${name}`} title="Edit" onClick={onEdit}>
        <Icon name="pencil" />
      </button>
      <button type="button" class="quiet icon-only" aria-label={`Delete ${name}`} title="Delete" onClick={onDelete}>
        <Icon name="bin" />
      </button>
      <button
        type="button"
        role="switch"
        class="switch"
        aria-checked={job.enabled}
        aria-label={`${name} is on`}
        title={job.enabled ? 'On' : 'Off'}
        onClick={() => attempt(desk.jobs.update(job.id, { enabled: !job.enabled }))}
      >
        <span />
      </button>
    </div>
  );
}
