import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { Icon } from './icons.tsx';

interface DialogProps {
  title: string;
  onClose(): void;
  children: ComponentChildren;
}

/** A modal card; Escape and its close button leave it, and focus goes back to where it was. */
export function Dialog({ title, onClose, children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => element.current?.showModal(), []);
  return (
    <dialog ref={element} aria-labelledby="dialog-title" onClose={onClose}>
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
