import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Skill } from '../../../../protocol/methods/skills/skill.ts';
import { toVisibleLine } from '../../../../protocol/text/visible-text.ts';
import { agentPanelOf } from '../../state/agent-panel/agent-panel.ts';
import type { Desk } from '../../state/app.ts';
import type { FormRefusal } from '../../state/skills/refused-fields.ts';
import { textsOf } from '../../state/skills/skill-draft.ts';
import { Dialog } from '../dialogs/dialog.tsx';
import { fieldsOf } from '../form-fields.ts';
import { focusOnProblem } from '../rows/field-frame.tsx';
import { FormEnd } from '../servers/server-fields.tsx';
import { useSubmit } from '../use-submit.ts';
import { ChoiceField, Field, type Shown } from './skill-fields.tsx';

interface SkillDialogProps {
  desk: Desk;
  /** Undefined for a new skill. */
  skill: Skill | undefined;
  onClose(): void;
}

/** The form to add or change a skill. Of an installed one, only how it is used can be changed. */
export function SkillDialog({ desk, skill, onClose }: SkillDialogProps) {
  const { skills: board } = agentPanelOf(desk);
  const refusal = useSignal<FormRefusal | undefined>(undefined);
  const isFixed = skill?.origin === 'source';
  const { busy, problem, onSubmit } = useSubmit(async (form) => {
    refusal.value = undefined;
    refusal.value = await board.save(fieldsOf(form), skill);
    if (refusal.value === undefined) onClose();
    else focusOnProblem(form);
    return refusal.value?.rest;
  });
  const shown: Shown = { texts: textsOf(skill), refusal: refusal.value };
  const isOpen = Object.keys(refusal.value?.fields ?? {}).some((field) => SETTINGS.includes(field));
  return (
    <Dialog title={skill ? `Edit ${toVisibleLine(skill.name)}` : 'Add a skill'} onClose={onClose}>
      <form class="account-dialog server-form skill-form" noValidate onSubmit={onSubmit}>
        {isFixed ? (
          <p class="soft">It was installed, so its text cannot be changed. You decide how it is used.</p>
        ) : (
          <TextFields shown={shown} />
        )}
        <ChoiceField {...shown} name="activation" label="How it gets into conversations" options={ACTIVATIONS} />
        {!isFixed && <ChoiceField {...shown} name="kind" label="For which workstreams" options={KINDS} />}
        <details class="form-fold" open={isOpen}>
          <summary>Settings of workstreams that are created with it</summary>
          <SettingFields desk={desk} shown={shown} skill={skill} />
        </details>
        {!isFixed && (
          <details class="form-fold">
            <summary>About it</summary>
            <Field {...shown} name="category" label="Category" maxLength={64} />
            <Field {...shown} name="tags" label="Tags, with commas between them" />
            <Field {...shown} name="author" label="Author" maxLength={256} />
            <Field {...shown} name="license" label="Licence" maxLength={256} />
            <Field {...shown} name="compatibility" label="What it needs" maxLength={500} />
          </details>
        )}
        <FormEnd problem={problem.value} busy={busy.value} verb={skill ? 'Save' : 'Add'} onCancel={onClose} />
      </form>
    </Dialog>
  );
}

const ACTIVATIONS = [
  ['named', 'A person names it: /skill NAME, or at creation'],
  ['search', 'Models load it when its description fits'],
  ['default', 'It holds in every conversation without another one'],
] as const;
const KINDS = [
  ['any', 'all'],
  ['interactive', 'all but coordinators'],
  ['coordinator', 'coordinators'],
] as const;
const EFFORTS = [
  ['', 'as usual'],
  ['low', 'low'],
  ['medium', 'medium'],
  ['high', 'high'],
] as const;
/** The fields in the fold of settings. */
const SETTINGS = [
  ...[
    'model',
    'reasoningEffort',
    'temperature',
    'maxTokens',
    'tokenBudget',
    'agentMaxTurns',
    'priority',
    'allowedTools',
  ],
  'autoApprove',
];

const TextFields = ({ shown }: { shown: Shown }) => (
  <>
    <Field {...shown} name="name" label="Name" placeholder="such as release-notes" maxLength={256} autofocus />
    <Field
      {...shown}
      name="description"
      label="Description: what it does, and when to use it"
      placeholder="Writes release notes. Use when a version is about to be released."
      rows={2}
      maxLength={1_024}
    />
    <Field {...shown} name="content" label="Instructions (Markdown)" rows={12} maxLength={32_768} />
  </>
);

function SettingFields({ desk, shown, skill }: { desk: Desk; shown: Shown; skill: Skill | undefined }) {
  const { models } = desk;
  useEffect(() => void models.refresh(), [models]);
  const known = new Set([shown.texts.model ?? '', '', ...models.rows.value.map(({ id }) => id)]);
  const options = [...known].sort().map((alias): [string, string] => [alias, alias === '' ? 'as usual' : alias]);
  return (
    <>
      <ChoiceField key={options.length} {...shown} name="model" label="Model" options={options} />
      <ChoiceField {...shown} name="reasoningEffort" label="Effort" options={EFFORTS} />
      <Field {...shown} name="temperature" label="Temperature (0 to 2)" placeholder="as usual" inputMode="decimal" />
      <Field {...shown} name="maxTokens" label="Most tokens of an answer" placeholder="as usual" inputMode="numeric" />
      <Field {...shown} name="tokenBudget" label="Token budget" placeholder="none" inputMode="numeric" />
      <Field {...shown} name="agentMaxTurns" label="Most turns of a run" placeholder="as usual" inputMode="numeric" />
      <Field {...shown} name="priority" label="Priority among skills that hold everywhere" inputMode="numeric" />
      <Field {...shown} name="allowedTools" label="Tools that run without a question, one per line" rows={2} />
      <label class="check">
        <input type="checkbox" name="autoApprove" defaultChecked={skill?.autoApprove} />
        Everything runs without a question
      </label>
    </>
  );
}
