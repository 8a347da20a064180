/** What takes the focus when a card has gone: the card after it, so that the same key cannot decide that one, too. */
export const neighbourOf = (card: HTMLElement | null): HTMLElement | null | undefined =>
  (card?.nextElementSibling ?? card?.previousElementSibling)?.querySelector<HTMLElement>('article') ??
  document.getElementById('inbox-title');
