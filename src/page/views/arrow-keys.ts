const STEPS: Record<string, 1 | -1> = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 };

/**
 * Arrow keys, Home and End move the focus between the elements that match the selector, as users expect of lists and
 * tabs.
 */
export function walk(event: KeyboardEvent & { currentTarget: HTMLElement }, selector: string): void {
  if (event.altKey || event.ctrlKey || event.metaKey) return;
  const items = [...event.currentTarget.querySelectorAll<HTMLElement>(selector)];
  const at = items.findIndex((item) => item.contains(document.activeElement));
  if (at === -1) return; // the focus is in a field, or on a button next to the elements
  const step = STEPS[event.key];
  const edge = { Home: items[0], End: items.at(-1) }[event.key];
  const next = step === undefined ? edge : items[(at + step + items.length) % items.length];
  if (!next) return;
  event.preventDefault();
  next.focus();
}
