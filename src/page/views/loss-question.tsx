import { useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';

interface LossQuestionProps {
  /** What would be done; default: Delete. */
  verb?: string;
  name: string;
  /** What goes with it: the rest of the question. */
  loss: string;
  /** Why not, or undefined when it was done. */
  remove(): Promise<string | undefined>;
  onKeep(): void;
}

/** Asks before something goes for good. What has the focus, and Escape, keep it; a refusal is said here. */
export function LossQuestion({ verb = 'Delete', name, loss, remove, onKeep }: LossQuestionProps) {
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
      class="loss-question"
      role="alertdialog"
      aria-label={`${verb} ${name}?`}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        event.preventDefault(); // it is about this question, not about the dialog
        onKeep();
      }}
    >
      <p>
        {verb} <b dir="auto">{name}</b> {loss}
      </p>
      <button type="button" class="danger" disabled={busy.value} onClick={() => void confirm()}>
        {verb}
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
