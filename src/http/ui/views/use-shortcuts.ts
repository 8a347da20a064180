import type { Signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { App, Desk } from '../state/app.ts';
import { findShortcut, type ShortcutId } from '../state/shortcuts.ts';
import { isMac } from './mac.ts';
import type { Overlay } from './overlay.ts';

interface Situation {
  app: App;
  desk: Desk;
  overlay: Overlay;
  isRenaming: Signal<boolean>;
}

/** The page's keys, wherever the focus is; under a dialog they rest. */
export function useShortcuts({ app, desk, overlay, isRenaming }: Situation): void {
  useEffect(() => {
    const show = (what: NonNullable<typeof overlay.value>) => () => {
      overlay.value = what;
    };
    const run: Record<ShortcutId, () => void> = {
      composer: () => document.getElementById('message')?.focus(),
      previous: () => desk.workstreams.step(-1),
      next: () => desk.workstreams.step(1),
      new: show('new'),
      saved: show('saved'),
      rename: () => {
        isRenaming.value = true;
      },
      question: () => goToQuestion(),
      approve: () => press('approve'),
      deny: () => press('deny'),
      theme: () => app.theme.next(),
      help: show('shortcuts'),
    };
    const onKeyDown = (event: KeyboardEvent) => {
      if (overlay.peek() === 'drawer' && event.key === 'Escape') overlay.value = undefined;
      if (overlay.peek() !== undefined) return;
      const id = findShortcut(event, { isTyping: isField(event.target), isMac: isMac() });
      if (id === undefined) return;
      event.preventDefault();
      run[id]();
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, [app, desk, overlay, isRenaming]);
}

function goToQuestion(): void {
  const question = document.querySelector<HTMLElement>('.approval.pending');
  question?.scrollIntoView({ block: 'nearest' });
  question?.focus({ preventScroll: true });
}

/** Only of the question that has the focus: a person who types, or reads elsewhere, decides nothing. */
function press(decision: 'approve' | 'deny'): void {
  const question = document.activeElement?.closest('.approval.pending');
  if (isField(document.activeElement)) return; // the reason of a denial
  question?.querySelector<HTMLButtonElement>(`[data-decision=${decision}]`)?.click();
}

const isField = (target: EventTarget | null): boolean =>
  target instanceof HTMLTextAreaElement ||
  target instanceof HTMLSelectElement ||
  (target instanceof HTMLInputElement && target.type !== 'checkbox');
