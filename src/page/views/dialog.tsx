import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { Icon } from './icons.tsx';

interface DialogProps {
  title: string;
  onClose(): void;
  children: ComponentChildren;
}

/** A modal card; Escape, its close button and a click beside it leave it, and focus goes back to where it was. */
export function Dialog({ title, onClose, children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const before = document.activeElement;
    const conversation = document.getElementById('conversation');
    element.current?.showModal();
    return () => {
      element.current?.close();
      // Who has opened another conversation wants to write there. What led here may be gone (a drawer that closed).
      if (document.getElementById('conversation') !== conversation) moveToComposer();
      else if (before instanceof HTMLElement && before.checkVisibility()) before.focus();
    };
  }, []);
  return (
    <dialog ref={element} aria-labelledby="dialog-title" closedby="any" onClose={onClose}>
      <header>
        <h2 id="dialog-title">{title}</h2>
        <button type="button" class="quiet icon-only" aria-label="Close" onClick={() => element.current?.close()}>
          <Icon name="close" />
        </button>
      </header>
      {children}
    </dialog>
  );
}

/** It takes the focus by itself when it comes later, if nothing else has it. */
function moveToComposer(): void {
  const field = document.getElementById('message');
  if (field) field.focus();
  else if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
}
