import { useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { showHidden } from '../../state/text/hidden-characters.ts';

interface LossQuestionProps {
  /** Default: Delete. */
  verb?: string;
  name: string;
  /** What it is, if its name is too long for the question: then it stands below, and `loss` is a sentence of its own. */
  kind?: string;
  /** The rest of the question, such as what else is lost. */
  loss: string;
  /** Returns an error message, or undefined on success. */
  remove(): Promise<string | undefined>;
  /** The id of what takes the focus once the thing is gone. */
  focusAfter?: string | undefined;
  onKeep(): void;
}

/** Asks before a permanent loss. The focused button and Escape cancel; an error is shown here. */
export function LossQuestion({ verb = 'Delete', name, kind, loss, remove, focusAfter, onKeep }: LossQuestionProps) {
  const keepButton = useRef<HTMLButtonElement>(null);
  const problem = useSignal<string | undefined>(undefined);
  const busy = useSignal(false);
  const element = useRef<HTMLDivElement>(null);
  const moveOn = () => {
    const { activeElement } = document;
    const isHere = activeElement === document.body || element.current?.contains(activeElement);
    if (isHere && focusAfter) document.getElementById(focusAfter)?.focus();
  };
  useLayoutEffect(() => {
    keepButton.current?.focus();
    // An event may end the thing, and this question with it, before the answer comes.
    return () => busy.peek() && moveOn();
  }, []);
  const confirm = async () => {
    busy.value = true;
    problem.value = await remove();
    busy.value = false;
    if (problem.value === undefined) moveOn();
  };
  return (
    <div
      ref={element}
      class="loss-question"
      role="alertdialog"
      aria-label={`${verb} ${name}?`}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        event.preventDefault(); // Escape closes this question, not the dialog around it
        onKeep();
      }}
    >
      <p>
        {kind === undefined ? `${verb} ` : `${verb} this ${kind}?`}
        {kind !== undefined && <br />}
        <b dir="auto">{showHidden(name)}</b>
        {loss.startsWith('?') ? '' : ' '}
        {kind !== undefined && <br />}
        {loss}
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
