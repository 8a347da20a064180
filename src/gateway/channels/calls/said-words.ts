import { toVisibleLine } from '../../../../protocol/text/visible-text.ts';

/** Longer than any reason that a chat service gives. */
const MOST_CHARS = 300;

/**
 * What a service says about a failure, as one short line: it is logged, stored and shown to people. `scrub` takes tokens out of
 * a text.
 */
export function saidWords(words: unknown, scrub: (text: string) => string): string {
  const text = typeof words === 'string' ? scrub(words) : '';
  return toVisibleLine(text.length > MOST_CHARS ? `${text.slice(0, MOST_CHARS)}…` : text);
}
