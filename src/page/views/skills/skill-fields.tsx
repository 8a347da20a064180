import { useId } from 'preact/hooks';
import type { FormRefusal } from '../../state/skills/refused-fields.ts';
import { FieldFrame, toMarks } from '../rows/field-frame.tsx';

/** What the form shows at first, and what is wrong with it. */
export interface Shown {
  texts: Partial<Record<string, string>>;
  refusal: FormRefusal | undefined;
}

interface FieldProps extends Shown {
  name: string;
  label: string;
  placeholder?: string;
  /** Of an area. */
  rows?: number;
  maxLength?: number;
  autofocus?: boolean;
  inputMode?: 'decimal' | 'numeric';
}

/** A field of one line, or an area, with what the daemon says of it. */
export function Field(props: FieldProps) {
  const { texts, refusal, name, label, rows, placeholder, maxLength, autofocus, inputMode } = props;
  const id = useId();
  const problem = refusal?.fields[name];
  const common = {
    ...toMarks(id, problem),
    placeholder,
    maxLength,
    autofocus,
    inputMode,
    name,
    autocomplete: 'off',
    defaultValue: texts[name],
  } as const;
  return (
    <FieldFrame id={id} label={label} problem={problem}>
      {rows === undefined ? (
        <input type="text" autocapitalize="none" {...common} />
      ) : (
        <textarea rows={rows} {...common} />
      )}
    </FieldFrame>
  );
}

interface ChoiceFieldProps extends Shown {
  name: string;
  label: string;
  /** Values with their words. */
  options: readonly (readonly [string, string])[];
}

export function ChoiceField({ texts, refusal, name, label, options }: ChoiceFieldProps) {
  const id = useId();
  const problem = refusal?.fields[name];
  return (
    <FieldFrame id={id} label={label} problem={problem}>
      <select {...toMarks(id, problem)} name={name}>
        {options.map(([value, words]) => (
          <option key={value} value={value} selected={value === texts[name]}>
            {words}
          </option>
        ))}
      </select>
    </FieldFrame>
  );
}
