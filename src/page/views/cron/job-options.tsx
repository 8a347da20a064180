import type { JobEditor } from '../../state/cron/job-editor.ts';
import { Check, Choice, Field } from './job-fields.tsx';

const MISFIRE = {
  '': 'default for its schedule',
  once: 'run once, as soon as possible',
  skip: 'skip it',
  all: 'run the latest ones',
  within: 'run once, unless it is too late',
};
const APPROVAL = {
  '': 'default: refuse',
  deny: 'refuse',
  wait: 'wait for approval',
  allow: 'allow some tools',
};
/** Options that most jobs leave at their defaults. */
export function JobOptions({ editor }: { editor: JobEditor }) {
  const { target } = editor.draft.value;
  return (
    <details class="job-options">
      <summary>More options</summary>
      <div class="job-option-list">
        <Misfire editor={editor} />
        <Choice
          editor={editor}
          field="wake"
          label="Notify the main conversation"
          options={{ 'next-heartbeat': 'with its next turn', now: 'at once' }}
        />
        {target === 'isolated' && <AgentOptions editor={editor} />}
        <Field
          editor={editor}
          field="maxRunMinutes"
          label="Stop a run after (minutes)"
          placeholder="60"
          inputMode="decimal"
        />
      </div>
    </details>
  );
}

function Misfire({ editor }: { editor: JobEditor }) {
  const { misfire } = editor.draft.value;
  const state = editor.preview.state.value;
  const isOnce = state.kind === 'read' && state.preview.schedule.kind === 'at';
  return (
    <>
      <Choice editor={editor} field="misfire" label="If a run was missed" options={MISFIRE} />
      {misfire === 'all' && (
        <Field editor={editor} field="allCount" label="Maximum number of runs" inputMode="numeric" />
      )}
      {misfire === 'within' && (
        <Field editor={editor} field="withinMinutes" label="Too late after (minutes)" inputMode="decimal" />
      )}
      {isOnce && <Check editor={editor} field="deleteAfterRun" label="Delete the job after it succeeds" />}
    </>
  );
}

function AgentOptions({ editor }: { editor: JobEditor }) {
  const { approval, deliver } = editor.draft.value;
  return (
    <>
      <Choice editor={editor} field="approval" label="When a call needs approval" options={APPROVAL} />
      {approval === 'wait' && (
        <Field editor={editor} field="waitMinutes" label="Maximum wait (minutes)" inputMode="decimal" />
      )}
      {approval === 'allow' && (
        <Field editor={editor} field="tools" label="Tools that run without approval" placeholder="bash, write_file" />
      )}
      <Field
        editor={editor}
        field="timeoutMinutes"
        label="Timeout for the answer (minutes)"
        placeholder="10"
        inputMode="decimal"
      />
      <Field editor={editor} field="thinking" label="Thinking" placeholder="off, minimal, low, medium, high" />
      <Check editor={editor} field="deliver" label="Send the answer to a channel" />
      {deliver && (
        <>
          <Field editor={editor} field="channel" label="Channel" placeholder="last" />
          <Field editor={editor} field="to" label="To" />
          <Check editor={editor} field="bestEffort" label="Ignore a failure to send" />
        </>
      )}
    </>
  );
}
