import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { Icon } from '../icons.tsx';

interface DialogProps {
  title: string;
  onClose(): void;
  children: ComponentChildren;
}

/** A modal dialog. Escape, its close button or a click outside closes it, and the focus returns to where it was. */
export function Dialog({ title, onClose, children }: DialogProps) {
  const titleId = useId(); // one dialog may be over another
  const element = useRef<HTMLDialogElement>(null);
  const isGone = useRef(false);
  useLayoutEffect(() => {
    const before = document.activeElement;
    const shown = shownTab();
    element.current?.showModal();
    return () => {
      isGone.current = true; // its event comes later, when another dialog may be in its place
      element.current?.close();
      // After opening another conversation, a person wants to write there. The opener may be hidden (in a closed
      // drawer).
      if (shownTab() !== shown) moveToComposer();
      else if (before instanceof HTMLElement && before.checkVisibility()) before.focus();
    };
  }, []);
  return (
    <dialog ref={element} aria-labelledby={titleId} closedby="any" onClose={() => isGone.current || onClose()}>
      {/* Scrolls within the dialog, whose corners would not cut a scrollbar of its own. */}
      <div class="dialog-scroll">
        <header>
          <h2 id={titleId}>{title}</h2>
          <button type="button" class="quiet icon-only" aria-label="Close" onClick={() => element.current?.close()}>
            <Icon name="close" />
          </button>
        </header>
        {children}
      </div>
    </dialog>
  );
}

/** The tab of the conversation that is shown, even if its messages are still on their way. */
const shownTab = () => document.querySelector('[role=tab][aria-selected=true]')?.id;

/** If the composer is not drawn yet, frees the focus: the composer takes a free focus when it appears. */
function moveToComposer(): void {
  const field = document.getElementById('message');
  if (field) field.focus();
  else if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
}
