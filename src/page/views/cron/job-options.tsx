import type { JobEditor } from '../../state/cron/job-editor.ts';
import { Check, Choice, Field } from './job-fields.tsx';

const MISFIRE = {
  '': 'as usual',
  once: 'run once, as soon as it can',
  skip: 'leave it out',
  all: 'run each of the latest',
  within: 'run once, if it is not too late',
};
const APPROVAL = {
  '': 'as usual: refuse',
  deny: 'refuse',
  wait: 'wait for somebody',
  allow: 'allow some tools',
};
/** What most jobs leave as it is. */
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
          label="The main conversation hears of it"
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
      <Choice editor={editor} field="misfire" label="If Headgate did not run then" options={MISFIRE} />
      {misfire === 'all' && <Field editor={editor} field="allCount" label="How many at most" inputMode="numeric" />}
      {misfire === 'within' && (
        <Field editor={editor} field="withinMinutes" label="Not too late is (minutes)" inputMode="decimal" />
      )}
      {isOnce && <Check editor={editor} field="deleteAfterRun" label="Delete it once it went well" />}
    </>
  );
}

function AgentOptions({ editor }: { editor: JobEditor }) {
  const { approval, deliver } = editor.draft.value;
  return (
    <>
      <Choice editor={editor} field="approval" label="When a call needs approval" options={APPROVAL} />
      {approval === 'wait' && (
        <Field editor={editor} field="waitMinutes" label="Wait at most (minutes)" inputMode="decimal" />
      )}
      {approval === 'allow' && (
        <Field editor={editor} field="tools" label="Tools that need not ask" placeholder="bash, write_file" />
      )}
      <Field
        editor={editor}
        field="timeoutMinutes"
        label="Time for the answer (minutes)"
        placeholder="10"
        inputMode="decimal"
      />
      <Field editor={editor} field="thinking" label="Thinking" placeholder="off, minimal, low, medium, high" />
      <Check editor={editor} field="deliver" label="Send the answer to a channel" />
      {deliver && (
        <>
          <Field editor={editor} field="channel" label="Channel" placeholder="last" />
          <Field editor={editor} field="to" label="To" />
          <Check editor={editor} field="bestEffort" label="An answer that cannot be sent is no error" />
        </>
      )}
    </>
  );
}
