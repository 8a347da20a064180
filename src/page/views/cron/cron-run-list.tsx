import { type Signal, useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import type { CronExtendedJob, CronOccurrence } from '../../../../protocol/cron.ts';
import { runStatusOf } from '../../../../protocol/run-status.ts';
import { wordsOf } from '../../../../protocol/words-of.ts';
import type { App, Desk } from '../../state/app.ts';
import { CronRuns } from '../../state/cron/cron-runs.ts';
import { showHidden } from '../../state/text/hidden-characters.ts';
import { toClock, toLength } from '../../state/text/moment.ts';
import { ReadingNotice } from '../reading-notice.tsx';
import { CronStatusMark } from './cron-status-mark.tsx';

interface CronRunListProps {
  app: App;
  desk: Desk;
  job: CronExtendedJob;
  now: Signal<number>;
}

/** A job's history, latest first, with a link to the conversation of each run. */
export function CronRunList({ app, desk, job, now }: CronRunListProps) {
  const history = useMemo(() => new CronRuns(desk.client, job.id), [desk, job.id]);
  const problem = useSignal<string | undefined>(undefined);
  useEffect(() => void history.read(), [history, job]); // the job is a new object whenever any job changes
  const runs = history.runs.value;
  const open = async (sessionKey: string) => {
    try {
      await desk.workstreams.showSession(sessionKey);
    } catch (error) {
      problem.value = wordsOf(error);
    }
  };
  return (
    <div class="runs">
      <p class="problem" role="alert">
        {problem.value}
      </p>
      <ReadingNotice of={[history.reading]} />
      {runs?.entries.length === 0 && <p class="soft">No runs yet.</p>}
      <ol>
        {runs?.entries.map((run) => (
          <RunRow
            key={`${run.scheduledAtMs} ${run.trigger}`}
            run={run}
            place={{ nowMs: now.value, timeZone: app.timeZone }}
            onOpen={run.sessionKey === undefined ? undefined : () => void open(run.sessionKey ?? '')}
          />
        ))}
      </ol>
      {runs?.hasMore && (
        <button type="button" class="quiet" onClick={() => void history.more()}>
          Show more
        </button>
      )}
    </div>
  );
}

type Place = Parameters<typeof toClock>[1];

interface RunRowProps {
  run: CronOccurrence;
  place: Place;
  /** Undefined if the run has no conversation. */
  onOpen: (() => void) | undefined;
}

function RunRow({ run, place, onOpen }: RunRowProps) {
  const { error, summary } = run;
  const text = error ?? summary;
  return (
    <li class="run">
      <CronStatusMark status={runStatusOf(run)} />
      <span class="run-when">{toWhen(run, place)}</span>
      <span class="run-facts">{toFacts(run, place)}</span>
      {onOpen && (
        <button type="button" class="link" onClick={onOpen}>
          Conversation
        </button>
      )}
      {text && <p class={error === undefined ? 'run-text' : 'run-text failed'}>{showHidden(text)}</p>}
    </li>
  );
}

/** The time it was scheduled for; for several missed runs, the first and the last time. */
function toWhen({ scheduledAtMs, throughMs }: CronOccurrence, place: Place): string {
  const from = toClock(scheduledAtMs, place);
  return throughMs === undefined || throughMs === scheduledAtMs ? from : `${from} – ${toClock(throughMs, place)}`;
}

/** A shorter delay is not shown. */
const PUNCTUAL_MS = 2_000;

function toFacts(run: CronOccurrence, place: Place): string {
  const { trigger, count, runAtMs, scheduledAtMs, durationMs, attempts, retryAtMs } = run;
  const isLate = runAtMs !== undefined && Math.abs(runAtMs - scheduledAtMs) > PUNCTUAL_MS;
  const facts = [
    trigger === 'forced' && 'by hand',
    count !== undefined && count > 1 && `${count} times`,
    isLate && `ran ${toClock(runAtMs, place)}`,
    durationMs !== undefined && toLength(durationMs),
    attempts > 1 && `${attempts} attempts`,
    retryAtMs !== undefined && `next attempt ${toClock(retryAtMs, place)}`,
  ];
  return facts.filter((fact) => fact !== false).join(' · ');
}
