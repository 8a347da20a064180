import { useId } from 'preact/hooks';

interface FieldProps {
  name: string;
  label: string;
  /** At first. */
  value: string | undefined;
  placeholder?: string;
  hint?: string;
}

interface TextFieldProps extends FieldProps {
  maxLength?: number;
  required?: boolean;
  autofocus?: boolean;
  isSecret?: boolean;
  /** Chooses the layout of an on-screen keyboard. */
  inputMode?: 'url' | 'numeric' | 'text';
}

/** A field of one line. What is typed is no language, so nothing corrects it. */
export function TextField(props: TextFieldProps) {
  const { name, label, value, hint, placeholder, maxLength, required, autofocus, inputMode, isSecret = false } = props;
  const id = useId();
  const hintId = `${id}-hint`;
  const common = {
    placeholder,
    maxLength,
    required,
    autofocus,
    inputMode,
    id,
    name,
    autocapitalize: 'none',
    spellcheck: false,
    defaultValue: value,
    'aria-describedby': hint && hintId,
  } as const;
  return (
    <label for={id}>
      {label}
      {isSecret ? (
        <input type="password" autocomplete="new-password" {...common} />
      ) : (
        <input type="text" autocomplete="off" {...common} />
      )}
      {hint && (
        <span class="hint" id={hintId}>
          {hint}
        </span>
      )}
    </label>
  );
}

/** A field with one entry per line. */
export function LinesField({ name, label, value, placeholder, hint }: FieldProps) {
  const hintId = useId();
  const lines = value?.split('\n').length ?? 1;
  return (
    <label>
      {label}
      <textarea
        name={name}
        rows={Math.min(Math.max(lines, 2), 8)}
        autocomplete="off"
        autocapitalize="none"
        spellcheck={false}
        placeholder={placeholder}
        defaultValue={value}
        aria-describedby={hint && hintId}
      />
      {hint && (
        <span class="hint" id={hintId}>
          {hint}
        </span>
      )}
    </label>
  );
}

interface FormEndProps {
  problem: string | undefined;
  busy: boolean;
  verb: string;
  /** Default: Cancel. */
  leave?: string;
  onCancel(): void;
}

/** What is wrong, and the buttons of a form. */
export const FormEnd = ({ problem, busy, verb, leave = 'Cancel', onCancel }: FormEndProps) => (
  <>
    <p class="problem" role="alert">
      {problem}
    </p>
    <footer>
      <button type="button" onClick={onCancel}>
        {leave}
      </button>
      <button type="submit" class="primary" disabled={busy}>
        {verb}
      </button>
    </footer>
  </>
);
