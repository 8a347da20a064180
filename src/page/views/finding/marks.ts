const NAME = 'sought';
/** More marks in view help nobody and cost time. */
const MOST = 500;

/** Marks words in the text of an element, now and whenever its text changes. Returns a function that ends it. */
export function keepMarks(element: Element, words: string): () => void {
  let frame: number | undefined;
  const draw = () => {
    frame = undefined;
    const ranges = rangesIn(element, words, MOST);
    if (ranges.length === 0) CSS.highlights?.delete(NAME);
    else CSS.highlights?.set(NAME, new Highlight(...ranges));
  };
  const later = () => {
    frame ??= requestAnimationFrame(draw);
  };
  const changes = new MutationObserver(later);
  changes.observe(element, { childList: true, subtree: true, characterData: true });
  later();
  return () => {
    changes.disconnect();
    if (frame !== undefined) cancelAnimationFrame(frame);
    CSS.highlights?.delete(NAME);
  };
}

/** The ranges of words in the text of an element; words that are formatted in part are not found. */
export function rangesIn(element: Element, words: string, most: number): Range[] {
  const sought = words.trim().toLowerCase();
  const ranges: Range[] = [];
  if (sought === '') return ranges;
  const nodes = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  for (let node = nodes.nextNode(); node && ranges.length < most; node = nodes.nextNode()) {
    const text = (node.textContent ?? '').toLowerCase();
    for (
      let at = text.indexOf(sought);
      at >= 0 && ranges.length < most;
      at = text.indexOf(sought, at + sought.length)
    ) {
      if (at + sought.length > (node.textContent?.length ?? 0)) break; // a letter whose small form is longer
      const range = new Range();
      range.setStart(node, at);
      range.setEnd(node, at + sought.length);
      ranges.push(range);
    }
  }
  return ranges;
}
