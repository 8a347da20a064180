import type { ContentBlock, ToolCallContent } from '@agentclientprotocol/sdk';

interface Looks {
  /** Not Markdown, such as what a command prints. */
  isPlain?: boolean;
}

/** A text in a tool call. */
export const toText = (text: string, { isPlain = false }: Looks = {}): ToolCallContent => ({
  type: 'content',
  content: toBlock(isPlain ? toFenced(text) : text),
});

export const toBlock = (text: string): ContentBlock => ({ type: 'text', text });

/** Editors show texts as Markdown. The fence is longer than any in the text, so that nothing in it can end it. */
export function toFenced(text: string): string {
  const longest = Math.max(0, ...[...text.matchAll(/`{3,}/g)].map(([run]) => run.length));
  const fence = '`'.repeat(Math.max(3, longest + 1));
  return `${fence}\n${text}\n${fence}`;
}
