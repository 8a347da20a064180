import { useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';

interface DeleteQuestionProps {
  name: string;
  /** Why not, or undefined when it was done. */
  remove(): Promise<string | undefined>;
  onKeep(): void;
}

/** Asks before a conversation goes for good. What has the focus, and Escape, keep it; a refusal is said here. */
export function DeleteQuestion({ name, remove, onKeep }: DeleteQuestionProps) {
  const keepButton = useRef<HTMLButtonElement>(null);
  const problem = useSignal<string | undefined>(undefined);
  const busy = useSignal(false);
  useLayoutEffect(() => keepButton.current?.focus(), []);
  const confirm = async () => {
    busy.value = true;
    problem.value = await remove();
    busy.value = false;
  };
  return (
    <div
      class="delete-question"
      role="alertdialog"
      aria-label={`Delete ${name}?`}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        event.preventDefault(); // it is about this question, not about the dialog
        onKeep();
      }}
    >
      <p>
        Delete <b>{name}</b> with everything said in it? It cannot be brought back.
      </p>
      <button type="button" class="danger" disabled={busy.value} onClick={() => void confirm()}>
        Delete
      </button>
      <button type="button" ref={keepButton} onClick={onKeep}>
        Keep
      </button>
      <p class="problem" role="alert">
        {problem.value}
      </p>
    </div>
  );
}
