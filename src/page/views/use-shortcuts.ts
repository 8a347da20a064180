import type { Signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { App, Desk } from '../state/app.ts';
import { toggleFiles } from '../state/aside/aside-target.ts';
import type { Goal } from '../state/finding/goal.ts';
import { findShortcut, type ShortcutId } from '../state/shortcuts.ts';
import { SEARCH_FIELD } from './finding/find-bar.tsx';
import { isField, type Overlay } from './overlay.ts';

interface Situation {
  app: App;
  desk: Desk;
  overlay: Overlay;
  isRenaming: Signal<boolean>;
}

/** Handles the page's shortcuts wherever the focus is, except while a dialog is open. */
export function useShortcuts({ app, desk, overlay, isRenaming }: Situation): void {
  useEffect(() => {
    const show = (what: NonNullable<typeof overlay.value>) => () => {
      overlay.value = what;
    };
    const run: Record<ShortcutId, () => void> = {
      composer: () => {
        desk.workstreams.shown.value = 'conversation';
        document.getElementById('message')?.focus(); // a composer that is not drawn yet takes the focus when it appears
      },
      previous: () => desk.workstreams.step(-1),
      next: () => desk.workstreams.step(1),
      new: show('new'),
      saved: show('saved'),
      dashboard: () => {
        desk.workstreams.shown.value = 'dashboard';
      },
      inbox: () => {
        if (app.rights.decide.peek()) desk.workstreams.shown.value = 'inbox';
      },
      agent: () => {
        desk.workstreams.shown.value = 'agent';
      },
      schedule: () => {
        desk.workstreams.shown.value = 'schedule';
      },
      nodes: () => {
        desk.workstreams.shown.value = 'nodes';
      },
      channels: () => {
        desk.workstreams.shown.value = 'channels';
      },
      usage: () => {
        desk.workstreams.shown.value = 'usage';
      },
      account: () => {
        desk.workstreams.shown.value = 'account';
      },
      rename: () => {
        desk.workstreams.shown.value = 'conversation';
        isRenaming.value = true;
      },
      find: () => openSearch(desk),
      files: () => switchFiles(app, desk),
      'asked-before': () => goTo(desk, { asked: 'before' }),
      'asked-after': () => goTo(desk, { asked: 'after' }),
      'asked-last': () => goTo(desk, { asked: 'last' }),
      question: () => goToQuestion(),
      approve: () => press('approve'),
      deny: () => press('deny'),
      theme: () => app.appearance.theme.next(),
      help: show('shortcuts'),
    };
    const stepBack = () => {
      if (overlay.peek() === 'drawer') overlay.value = undefined;
      else if (overlay.peek() === undefined) desk.workstreams.shown.value = 'conversation';
    };
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key === 'Escape' && !event.isComposing && !event.defaultPrevented) stepBack();
      if (overlay.peek() !== undefined) return;
      const id = findShortcut(event, { isTyping: isField(event.target), isMac: isMac() });
      if (id === undefined || (id === 'find' && !mayFind(desk))) return;
      event.preventDefault();
      run[id]();
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, [app, desk, overlay, isRenaming]);
}

/** The browser’s own search finds only what is drawn. It is still there: pressed in the field, the key is the browser’s. */
const mayFind = ({ workstreams: { front, shown } }: Desk): boolean =>
  shown.peek() === 'conversation' && front.peek()?.conversation.peek() !== undefined && !isSearchField();

const isSearchField = (): boolean => document.activeElement?.id === SEARCH_FIELD;

function openSearch({ workstreams }: Desk): void {
  const tab = workstreams.front.peek();
  if (!tab) return;
  tab.search.value ??= '';
  document.getElementById(SEARCH_FIELD)?.focus(); // a bar that is not drawn yet takes the focus when it appears
}

function switchFiles({ rights }: App, { workstreams: { front, shown } }: Desk): void {
  const tab = front.peek();
  if (!tab || !rights.write.peek()) return;
  shown.value = 'conversation';
  toggleFiles(tab.aside);
}

function goTo({ workstreams: { front, shown } }: Desk, goal: Goal): void {
  const tab = front.peek();
  if (!tab) return;
  shown.value = 'conversation';
  tab.goal.value = goal;
}

function goToQuestion(): void {
  const question = document.querySelector<HTMLElement>('.approval.pending');
  question?.scrollIntoView({ block: 'nearest' });
  question?.focus({ preventScroll: true });
}

/** Decides only the focused question, so that keys typed elsewhere decide nothing. */
function press(decision: 'approve' | 'deny'): void {
  const question = document.activeElement?.closest('.approval.pending');
  if (isField(document.activeElement)) return; // the field for the reason of a denial
  question?.querySelector<HTMLButtonElement>(`[data-decision=${decision}]`)?.click();
}

/** Whose keyboard this is; it decides which key stands for Control and what the keys are called. */
export const isMac = (): boolean => /Mac|iPhone|iPad/.test(navigator.platform);
