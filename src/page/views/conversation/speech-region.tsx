import { useLayoutEffect, useRef } from 'preact/hooks';
import { systemTimers } from '../../../../protocol/client/timers.ts';
import { tellMore, toldSoFar } from '../../state/conversation/answer-speech.ts';
import type { Block } from '../../state/conversation/blocks.ts';

/**
 * By then a screen reader has read the line. It is removed so that a search of the page does not find the text twice.
 */
const KEPT_MS = 5_000;

/**
 * Makes screen readers read an answer aloud while it streams: a polite live region that gets a line per finished
 * sentence, not per token.
 */
export function SpeechRegion({ blocks }: { blocks: readonly Block[] }) {
  const region = useRef<HTMLDivElement>(null);
  const told = useRef(toldSoFar(blocks));
  useLayoutEffect(() => {
    const next = tellMore(blocks, told.current);
    told.current = next.told;
    for (const line of next.lines) if (region.current) say(region.current, line);
  }, [blocks]);
  return (
    <div ref={region} class="hidden-text" role="log" aria-live="polite" aria-relevant="additions" aria-label="Answer" />
  );
}

/** Bypasses Preact: lines that stay keep their elements, so that screen readers do not read them again. */
function say(region: HTMLElement, text: string): void {
  const line = document.createElement('p');
  line.textContent = text;
  region.append(line);
  systemTimers.after(KEPT_MS, () => line.remove());
}
