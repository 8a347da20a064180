import { useMemo } from 'preact/hooks';
import type { CronExtendedJob } from '../../../../protocol/cron.ts';
import type { App, Desk } from '../../state/app.ts';
import { jobName } from '../../state/cron/cron-jobs.ts';
import { JobEditor } from '../../state/cron/job-editor.ts';
import { Dialog } from '../dialogs/dialog.tsx';
import { focusOnProblem } from '../rows/field-frame.tsx';
import { Area, Choice, Field } from './job-fields.tsx';
import { JobOptions } from './job-options.tsx';
import { ScheduleField } from './schedule-field.tsx';

interface JobDialogProps {
  app: App;
  desk: Desk;
  /** Undefined for a new job. */
  job: CronExtendedJob | undefined;
  onClose(): void;
}

/** The form to add or edit a job. */
export function JobDialog({ app, desk, job, onClose }: JobDialogProps) {
  const editor = useMemo(
    () => new JobEditor({ client: desk.client, jobs: desk.jobs, timeZone: app.timeZone }, job),
    [app, desk, job],
  );
  const save = async (event: SubmitEvent & { currentTarget: HTMLFormElement }) => {
    event.preventDefault();
    const form = event.currentTarget;
    if (await editor.save()) onClose();
    else focusOnProblem(form);
  };
  const isMain = editor.draft.value.target === 'main';
  return (
    <Dialog title={job ? `Edit ${jobName(job)}` : 'Add a job'} onClose={onClose}>
      <form class="job-form" noValidate onSubmit={(event) => void save(event)}>
        <ScheduleField editor={editor} />
        <Area
          editor={editor}
          field="message"
          label={isMain ? 'What to tell the main conversation' : 'What to do'}
          placeholder={isMain ? 'Remind me to fill in the time sheet' : 'Look for new issues and sum them up'}
        />
        <Choice
          editor={editor}
          field="target"
          label="Where"
          options={{ isolated: 'in a separate conversation', main: 'in the main conversation' }}
        />
        <Field editor={editor} field="name" label="Name" placeholder="taken from the text if empty" maxLength={200} />
        <JobOptions editor={editor} />
        <p class="problem" role="alert">
          {editor.refusal.value}
        </p>
        <footer>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="primary" disabled={editor.isSaving.value}>
            {job ? 'Save' : 'Add'}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}
