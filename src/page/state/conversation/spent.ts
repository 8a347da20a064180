import type { AnswerSpending } from '../../../../protocol/events/answer-spending.ts';
import type { HistoryMessage } from '../../../../protocol/stream-events.ts';
import { addSpending } from '../../../../protocol/text/spending/spending-words.ts';
import type { Block } from './blocks.ts';

/** What answers without text took since the last block that shows a sum. They only call tools, so nothing else shows it. */
export type Unshown = AnswerSpending | undefined;

/** The sum after a message; the block of an answer with text has shown it. */
export function unshownAfter(before: Unshown, message: HistoryMessage): Unshown {
  if (message.role === 'user') return undefined;
  return message.role === 'assistant' && !hasText(message)
    ? addSpending(before, message.spent)
    : unlessSaid(before, message);
}

const unlessSaid = (before: Unshown, { role }: HistoryMessage): Unshown => (role === 'assistant' ? undefined : before);

/** What is not shown yet at the end of stored messages. */
export const unshownIn = (messages: readonly HistoryMessage[]): Unshown =>
  messages.reduce<Unshown>(unshownAfter, undefined);

export const hasText = ({ content, reasoning = '' }: Pick<HistoryMessage, 'content' | 'reasoning'>): boolean =>
  Boolean(content) || reasoning !== '';

/** Adds what an older page ends with to the first answer, unless a message of the person comes before it. */
export function showUnshown(blocks: readonly Block[], unshown: Unshown): readonly Block[] {
  const index = blocks.findIndex(({ kind }) => kind === 'answer' || kind === 'user');
  const first = blocks[index];
  if (unshown === undefined || first?.kind !== 'answer') return blocks;
  return blocks.with(index, { ...first, spent: addSpending(unshown, first.spent) });
}
