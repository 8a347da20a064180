import { useSignal } from '@preact/signals';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';

interface RenameFieldProps {
  name: string;
  /** Describes the effect of an empty name. */
  placeholder?: string;
  /** Returns an error message, or undefined on success. */
  save(name: string): Promise<string | undefined>;
  onDone(): void;
}

/** A field to change a name. Enter and leaving the field save it, Escape cancels. An error is shown here. */
export function RenameField({ name, placeholder = NONE, save, onDone }: RenameFieldProps) {
  const field = useRef<HTMLInputElement>(null);
  const problem = useSignal<string | undefined>(undefined);
  const problemId = useId();
  /** The name is being saved, or the field is closing. */
  const isDone = useRef(false);
  useLayoutEffect(() => {
    field.current?.focus();
    field.current?.select();
  }, []);
  const keep = async () => {
    const text = field.current?.value.trim() ?? '';
    if (isDone.current) return;
    isDone.current = true;
    problem.value = text === name ? undefined : await save(text);
    if (problem.value === undefined) onDone();
    else isDone.current = false;
  };
  return (
    <span class="rename">
      <input
        ref={field}
        aria-label="New name"
        aria-invalid={problem.value !== undefined}
        aria-describedby={problemId}
        placeholder={placeholder}
        maxLength={128}
        autocomplete="off"
        defaultValue={name}
        onBlur={() => void keep()}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && !event.isComposing) {
            event.preventDefault(); // the key must not press a button that takes the focus meanwhile
            void keep();
          }
          if (event.key !== 'Escape' || event.isComposing) return;
          event.preventDefault(); // Escape closes this field and must not stop the run
          isDone.current = true;
          onDone();
        }}
      />
      <span class="problem" role="alert" id={problemId}>
        {problem.value}
      </span>
    </span>
  );
}

const NONE = 'if empty: its first message';
