import type { MarkdownPart } from './markdown-split.ts';

/** More text is drawn over several frames. */
const MAX_CHARS = 16_000;
/** What is loaded when it is drawn, keeps what a person chose in it, or is the target of a link. */
const LASTING = /```\s*(?:mermaid|diff)|~~~\s*(?:mermaid|diff)|\$|\\[([]|\[\^/i;

/** Whether parts of an answer can be removed and drawn again in one frame, and then look as before. */
export function isDrawnAtOnce(parts: readonly MarkdownPart[]): boolean {
  const chars = parts.reduce((sum, { token }) => sum + token.raw.length, 0);
  return chars <= MAX_CHARS && !parts.some(({ token }) => LASTING.test(token.raw));
}
