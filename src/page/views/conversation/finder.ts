/** Searches the text of an element and shows one match after the other. */
export interface Finder {
  /** Shows the next match; false if there are no more. A search for other words starts at the beginning. */
  next(words: string): boolean;
  clear(): void;
}

const NAME = 'found';

export function createFinder(element: HTMLElement): Finder {
  let last = { words: '', end: 0 };
  const clear = () => void CSS.highlights?.delete(NAME);
  return {
    clear,
    next(words) {
      if (words !== last.words) last = { words, end: 0 };
      const text = element.textContent?.toLowerCase() ?? '';
      const start = text.indexOf(words.toLowerCase(), last.end);
      if (start < 0) return false;
      last = { words, end: start + words.length };
      const range = toRange(element, { start, end: last.end });
      CSS.highlights?.set(NAME, new Highlight(range));
      reveal(element, range);
      return true;
    },
  };
}

function toRange(element: HTMLElement, { start, end }: { start: number; end: number }): Range {
  const range = new Range();
  const nodes = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  let at = 0;
  for (let node = nodes.nextNode(); node; node = nodes.nextNode()) {
    const length = node.textContent?.length ?? 0;
    if (at <= start && start < at + length) range.setStart(node, start - at);
    if (at < end && end <= at + length) {
      range.setEnd(node, end - at);
      break;
    }
    at += length;
  }
  return range;
}

/** Scrolls only the element itself. */
function reveal(element: HTMLElement, range: Range): void {
  range.startContainer.parentElement?.scrollIntoView({ block: 'nearest' }); // lays out chunks off screen
  const { top } = range.getBoundingClientRect();
  element.scrollTop += top - element.getBoundingClientRect().top - element.clientHeight / 3;
}
