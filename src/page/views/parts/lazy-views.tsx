import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import type { Desk } from '../../state/app.ts';
import { Dialog } from '../dialogs/dialog.tsx';
import { Panel } from '../panel.tsx';
import type { LazyPart } from './lazy-part.ts';
import { PartError } from './part-loader.ts';

interface LazyProps<M> {
  part: LazyPart<M>;
  title: string;
  desk: Desk;
  /** Draws the part once it is loaded. */
  children(module: M): ComponentChildren;
}

/** A panel whose code is loaded when it is first shown. Until then, it has its frame. */
export function LazyPanel<M>({ part, name, title, desk, children }: LazyProps<M> & { name: string }) {
  const module = useLoaded(part, desk);
  if (module !== undefined) return children(module);
  return (
    <Panel name={name} title={title} count="" desk={desk}>
      <PartNotice part={part} />
    </Panel>
  );
}

/** A dialog whose code is loaded when it is first opened. Until then, it has its frame. */
export function LazyDialog<M>({ part, title, desk, onClose, children }: LazyProps<M> & { onClose(): void }) {
  const module = useLoaded(part, desk);
  if (module !== undefined) return children(module);
  return (
    <Dialog title={title} onClose={onClose}>
      <PartNotice part={part} />
    </Dialog>
  );
}

/** A piece of a view whose code is loaded when it is first shown. Until then, nothing stands in its place. */
export function LazyPiece<M>({ part, desk, children }: Omit<LazyProps<M>, 'title'>) {
  const module = useLoaded(part, desk);
  return module === undefined ? null : children(module);
}

/** Loads the part, again when the connection is back. */
function useLoaded<M>(part: LazyPart<M>, { client }: Desk): M | undefined {
  const isOpen = client.isOpen.value;
  useEffect(() => void part.load(), [part, isOpen]);
  return part.module.value;
}

function PartNotice({ part }: { part: LazyPart<unknown> }) {
  const problem = part.problem.value;
  const isGone = problem instanceof PartError && problem.isGone;
  const again = isGone ? () => location.reload() : () => void part.load();
  return (
    <div class="part-notice">
      <p class="soft" role="status">
        {problem === undefined && 'Loading…'}
      </p>
      <p role="alert">
        {problem !== undefined &&
          (isGone
            ? 'Headgate was updated since you opened this page. Reload it to go on; what you have written is kept.'
            : 'This part of the page could not be loaded. Is Headgate running?')}
      </p>
      {problem !== undefined && (
        <button type="button" class="primary" onClick={again}>
          {isGone ? 'Reload the page' : 'Try again'}
        </button>
      )}
    </div>
  );
}
