import type { Signal } from '@preact/signals';
import { useLayoutEffect } from 'preact/hooks';

/**
 * The dialog or drawer over the conversation; only one is open at a time. `job`: the form for a scheduled job.
 * `account`: the form for a user or a role. `agent`: a form about tool servers. `owner`: the form that gives a workstream to somebody else. `changes`: what runs changed on disk. `aside`: on a narrow screen, what stands beside the conversation on a wide one. `drawer`: the list of workstreams on a phone.
 */
export type Overlay = Signal<
  'drawer' | 'new' | 'saved' | 'shortcuts' | 'job' | 'account' | 'agent' | 'owner' | 'changes' | 'aside' | undefined
>;

interface OwnedOverlay {
  isOpen: boolean;
  open(): void;
  close(): void;
}

/**
 * The overlay of a view that draws it itself. It also closes when the view goes away or `may` becomes false (a lost
 * right), before the next key is handled: an overlay that nobody draws would keep every shortcut from working.
 */
export function useOwnOverlay(overlay: Overlay, name: NonNullable<Overlay['value']>, may = true): OwnedOverlay {
  const isOurs = overlay.value === name;
  const close = () => {
    if (overlay.peek() === name) overlay.value = undefined;
  };
  useLayoutEffect(() => {
    if (isOurs && !may) close();
  }, [isOurs, may]);
  useLayoutEffect(() => close, [overlay, name]);
  return {
    isOpen: isOurs && may,
    open: () => {
      overlay.value = name;
    },
    close,
  };
}

/** Whether a dialog or the drawer covers the conversation, so that Escape closes it. */
export const isCovered = (): boolean => document.querySelector('dialog[open], .desk.drawn') !== null;

/** Whether keys pressed there are text input. */
export const isField = (
  target: EventTarget | null,
): target is HTMLTextAreaElement | HTMLSelectElement | HTMLInputElement =>
  target instanceof HTMLTextAreaElement ||
  target instanceof HTMLSelectElement ||
  (target instanceof HTMLInputElement && target.type !== 'checkbox');
