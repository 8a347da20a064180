import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { LossQuestion } from '../dialogs/loss-question.tsx';
import { Icon } from '../icons.tsx';
import { useFocusAfter } from '../use-focus-after.ts';

/** How a row of a list is removed, after a question. */
export interface Removal {
  /** Default: Delete. */
  verb?: string;
  icon?: 'bin' | 'cross';
  name: string;
  /** What it is, if its name is too long for the question: then it stands below, and `loss` is a sentence of its own. */
  kind?: string;
  /** The rest of the question, such as what else is lost. */
  loss: string;
  /** Returns an error message, or undefined on success. */
  remove(): Promise<string | undefined>;
  /** The id of the heading that takes the focus once the row is gone. */
  focusAfter?: string;
}

interface RemovableRowProps {
  class?: string;
  /** Undefined: the person may not remove it. */
  removal: Removal | undefined;
  /** The row, with the button that asks about the removal. */
  children(removeButton: ComponentChildren): ComponentChildren;
}

/** A row with a button that removes it, and the question below. */
export function RemovableRow({ class: className, removal, children }: RemovableRowProps) {
  const isAsking = useSignal(false);
  const element = useFocusAfter(isAsking.value ? 'removing' : 'shown');
  return (
    <li class={className} ref={element}>
      {children(
        removal && (
          <RemoveButton
            {...removal}
            onClick={() => {
              isAsking.value = true;
            }}
          />
        ),
      )}
      {removal && isAsking.value && (
        <LossQuestion
          {...removal}
          onKeep={() => {
            isAsking.value = false;
          }}
        />
      )}
    </li>
  );
}

const RemoveButton = ({ verb = 'Delete', icon = 'bin', name, onClick }: Removal & { onClick(): void }) => (
  <button
    type="button"
    class="quiet icon-only"
    data-opens="removing"
    aria-label={`${verb} ${name}`}
    title={verb}
    onClick={onClick}
  >
    <Icon name={icon} />
  </button>
);
