import { useLayoutEffect, useRef } from 'preact/hooks';
import { systemTimers } from '../../../../protocol/client/timers.ts';
import { tellMore, toldSoFar } from '../../state/conversation/answer-speech.ts';
import type { Block } from '../../state/conversation/blocks.ts';

/** A screen reader has taken a line by then; after that it would only be found twice when somebody searches the page. */
const KEPT_MS = 5_000;

/**
 * Reads answers aloud to screen readers while they stream: a polite live region that gets a line when a sentence is
 * finished, and not with every token.
 */
export function AnswerSpeech({ blocks }: { blocks: readonly Block[] }) {
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

/** By hand: the elements that stay are the same ones, so that nothing of them is told again. */
function say(region: HTMLElement, text: string): void {
  const line = document.createElement('p');
  line.textContent = text;
  region.append(line);
  systemTimers.after(KEPT_MS, () => line.remove());
}
