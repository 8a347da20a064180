import type { HistoryMessage } from '../../../../protocol/stream-events.ts';
import { addSpending, type SpendingSum } from '../../../../protocol/text/spending/spending-words.ts';
import type { AnswerBlock, Block } from './blocks.ts';

/** What answers without text took since the last block that shows a sum. They only call tools, so nothing else shows it. */
export type Unshown = SpendingSum | undefined;

/** The sum after a message. An answer with text shows it, and a message of the person begins a new one. */
export function unshownAfter(before: Unshown, { role, content, spent }: HistoryMessage): Unshown {
  if (role === 'tool') return before;
  return role === 'assistant' && !content ? addSpending(before, spent) : undefined;
}

/** What is not shown yet at the end of stored messages. */
export const unshownIn = (messages: readonly HistoryMessage[]): Unshown =>
  messages.reduce<Unshown>(unshownAfter, undefined);

/** Whether a block shows what it took. Thoughts alone do not. */
export const showsSpent = (block: Block | undefined): block is AnswerBlock =>
  block?.kind === 'answer' && block.text !== '';

/** Adds what an older page ends with to the first answer, unless a message of the person comes before it. */
export function showUnshown(blocks: readonly Block[], unshown: Unshown): readonly Block[] {
  const index = blocks.findIndex((block) => block.kind === 'user' || showsSpent(block));
  const first = blocks[index];
  if (unshown === undefined || !showsSpent(first)) return blocks;
  return blocks.with(index, { ...first, spent: addSpending(unshown, first.spent) });
}
