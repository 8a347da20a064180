import { useEffect, useId } from 'preact/hooks';
import { systemTimers } from '../../../../protocol/client/timers.ts';
import type { JobEditor } from '../../state/cron/job-editor.ts';
import type { Preview, Previewed } from '../../state/cron/schedule-preview.ts';

/** Pause in typing after which the schedule is checked. */
const PAUSE_MS = 250;

/** The schedule field, with its meaning and next runs below. */
export function ScheduleField({ editor }: { editor: JobEditor }) {
  const id = useId();
  const { when } = editor.draft.value;
  const problem = editor.problems.value.when;
  useEffect(() => systemTimers.after(when === '' ? 0 : PAUSE_MS, () => void editor.readSchedule()), [editor, when]);
  return (
    <div class="field">
      <label for={id}>When</label>
      <input
        id={id}
        class="schedule-text"
        value={when}
        placeholder="every 15m, at 18:00, 0 9 * * 1-5"
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        autofocus
        aria-invalid={problem !== undefined}
        aria-describedby={`${id}-problem ${id}-preview`}
        onInput={({ currentTarget }) => editor.set('when', currentTarget.value)}
      />
      <p class="problem" id={`${id}-problem`} role="alert">
        {problem}
      </p>
      <div class="schedule-preview" id={`${id}-preview`} aria-live="polite">
        <PreviewText state={editor.preview.state.value} />
      </div>
    </div>
  );
}

function PreviewText({ state }: { state: Previewed }) {
  const preview = state.kind === 'read' ? state.preview : state.kind === 'reading' ? state.before : undefined;
  if (!preview) return null;
  return (
    <>
      <p>{preview.description}</p>
      {preview.runs.length === 0 ? (
        <p class="soft">No further runs.</p>
      ) : (
        <ol>
          {preview.runs.map((run) => (
            <li key={run.atMs}>{toLine(run)}</li>
          ))}
        </ol>
      )}
      {preview.runs.length > 0 && <p class="soft">Times in {preview.tz}</p>}
    </>
  );
}

/** Local time in the schedule's zone with its UTC offset, as in `Thu, Dec 24, 2026, 18:00 (+01:00)`. */
function toLine({ local, offset }: Preview['runs'][number]): string {
  const wall = new Date(`${local}Z`);
  const isWhole = wall.getUTCSeconds() === 0;
  const time = wall.toLocaleString(undefined, {
    timeZone: 'UTC',
    weekday: 'short',
    year: 'numeric',
    month: 'short',
    day: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    ...(!isWhole && { second: '2-digit' }),
    hourCycle: 'h23',
  });
  return `${time} (${offset})`;
}
