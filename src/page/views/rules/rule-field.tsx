import type { Signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import type { RuleFields, WrongFields } from '../../state/rules/rule-draft.ts';
import { FieldFrame, toMarks } from '../rows/field-frame.tsx';

export interface RuleFieldsProps {
  fields: RuleFields;
  wrong: Signal<WrongFields>;
}

interface FieldProps {
  name: keyof RuleFields;
  label: string;
  wrong: Signal<WrongFields>;
}

interface TextFieldProps extends FieldProps, RuleFieldsProps {
  hint?: string;
  /** Keeps line breaks. */
  isLong?: boolean;
}

/** A text, and what is wrong with it. */
export function TextField({ name, label, hint, isLong = false, fields, wrong }: TextFieldProps) {
  const problem = wrong.value[name];
  const Control = isLong ? 'textarea' : 'input';
  return (
    <FieldFrame id={`rule-${name}`} label={label} problem={problem}>
      <Control
        {...toMarks(`rule-${name}`, problem)}
        name={name}
        rows={1}
        defaultValue={fields[name]}
        placeholder={hint}
        maxLength={4_096}
        autocomplete="off"
        autocapitalize="none"
        spellcheck={false}
      />
    </FieldFrame>
  );
}

/** A choice, and what is wrong with it. */
export function ChoiceField({ name, label, wrong, children }: FieldProps & { children: ComponentChildren }) {
  const problem = wrong.value[name];
  return (
    <FieldFrame id={`rule-${name}`} label={label} problem={problem}>
      <select {...toMarks(`rule-${name}`, problem)} name={name}>
        {children}
      </select>
    </FieldFrame>
  );
}
