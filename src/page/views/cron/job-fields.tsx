import type { JSX } from 'preact';
import { useId } from 'preact/hooks';
import type { JobDraft } from '../../state/cron/job-draft.ts';
import type { JobEditor } from '../../state/cron/job-editor.ts';
import { FieldFrame, toMarks } from '../rows/field-frame.tsx';

/** The draft fields that hold a value of type `T`. */
type FieldOf<T> = { [F in keyof JobDraft]: JobDraft[F] extends T ? F : never }[keyof JobDraft];
type TextField = { [F in keyof JobDraft]: string extends JobDraft[F] ? F : never }[keyof JobDraft];

interface FieldProps {
  editor: JobEditor;
  field: TextField;
  label: string;
  placeholder?: string;
  maxLength?: number;
  /** Chooses the layout of an on-screen keyboard. */
  inputMode?: 'decimal' | 'numeric' | 'text';
}

/** A single-line text field with its error message. */
export function Field({ maxLength, inputMode = 'text', ...props }: FieldProps) {
  return (
    <Labelled {...props}>
      {(input) => <input {...input} maxLength={maxLength} inputMode={inputMode} autocomplete="off" />}
    </Labelled>
  );
}

/** A multi-line text field with its error message. */
export function Area(props: FieldProps) {
  return <Labelled {...props}>{(input) => <textarea {...input} rows={3} />}</Labelled>;
}

interface Input {
  id: string;
  value: string;
  placeholder: string | undefined;
  'aria-invalid': boolean;
  'aria-describedby': string;
  onInput(event: { currentTarget: { value: string } }): void;
}

function Labelled({
  editor,
  field,
  label,
  placeholder,
  children,
}: Pick<FieldProps, 'editor' | 'field' | 'label' | 'placeholder'> & { children(input: Input): JSX.Element }) {
  const id = useId();
  const problem = editor.problems.value[field];
  const input: Input = {
    ...toMarks(id, problem),
    placeholder,
    value: editor.draft.value[field],
    onInput: ({ currentTarget }) => editor.set(field, currentTarget.value),
  };
  return (
    <FieldFrame id={id} label={label} problem={problem}>
      {children(input)}
    </FieldFrame>
  );
}

interface ChoiceProps<F extends FieldOf<string>> {
  editor: JobEditor;
  field: F;
  label: string;
  /** The label of each value. */
  options: Record<JobDraft[F], string>;
}

/** A select field. */
export function Choice<F extends FieldOf<string>>({ editor, field, label, options }: ChoiceProps<F>) {
  const id = useId();
  const names = Object.keys(options).filter((name): name is JobDraft[F] => name in options);
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select
        id={id}
        value={editor.draft.value[field]}
        onChange={({ currentTarget }) => {
          const chosen = names.find((name) => name === currentTarget.value);
          if (chosen !== undefined) editor.set(field, chosen);
        }}
      >
        {names.map((name) => (
          <option key={name} value={name}>
            {options[name]}
          </option>
        ))}
      </select>
    </div>
  );
}

/** A checkbox. */
export const Check = ({ editor, field, label }: { editor: JobEditor; field: FieldOf<boolean>; label: string }) => (
  <label class="check">
    <input
      type="checkbox"
      checked={editor.draft.value[field]}
      onChange={({ currentTarget }) => editor.set(field, currentTarget.checked)}
    />
    {label}
  </label>
);
