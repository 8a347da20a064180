import { useEffect } from 'preact/hooks';
import type { Triage } from '../../state/inbox/triage.ts';
import { isCovered, isField } from '../overlay.ts';

const STEPS: Readonly<Record<string, 1 | -1>> = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 };
const BUTTONS: Readonly<Record<string, string>> = { y: 'approve', n: 'deny', Enter: 'open' };

/**
 * Single keys that work through the inbox: j and k walk, y and n decide about the focused card, Enter opens it, u takes the
 * last decision back.
 */
export function useTriage(triage: Triage): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const { key, repeat } = event;
      if (isElsewhere(event)) return;
      const step = STEPS[key];
      const did = step !== undefined ? walk(step) : !repeat && press(key, triage);
      if (did) event.preventDefault();
    };
    document.addEventListener('keydown', onKeyDown);
    return () => {
      document.removeEventListener('keydown', onKeyDown);
      void triage.finish(); // who leaves the inbox has decided
    };
  }, [triage]);
}

/** Pressed with another key, in a field, or below a dialog. */
const isElsewhere = (event: KeyboardEvent): boolean =>
  [event.altKey, event.ctrlKey, event.metaKey, event.shiftKey, event.isComposing, event.defaultPrevented].some(
    Boolean,
  ) ||
  isField(event.target) ||
  isCovered();

const cards = (): HTMLElement[] => [...document.querySelectorAll<HTMLElement>('.inbox article')];

const focusedCard = (): HTMLElement | undefined => cards().find((card) => card.contains(document.activeElement));

function walk(step: 1 | -1): boolean {
  const all = cards();
  const at = all.findIndex((card) => card.contains(document.activeElement));
  const next = at === -1 ? all.at(step === 1 ? 0 : -1) : all[at + step];
  next?.focus();
  next?.scrollIntoView({ block: 'nearest' });
  return next !== undefined;
}

/** Presses the button of the focused card, so that a key does what the button does, and nothing while it is disabled. */
function press(key: string, triage: Triage): boolean {
  if (key === 'u') {
    const held = triage.held.peek();
    triage.undo();
    return held !== undefined;
  }
  const card = focusedCard();
  const name = BUTTONS[key];
  if (card === undefined || name === undefined || (key === 'Enter' && document.activeElement !== card)) return false;
  const button = card.querySelector<HTMLButtonElement>(`[data-decision=${name}]`);
  triage.isKey = true;
  button?.click();
  triage.isKey = false;
  return button !== null;
}
