import type { StoredMessage } from './messages.ts';

/** The number of the last message that can be copied: calls of a turn in progress have no results yet. */
export function lastComplete(stored: readonly StoredMessage[]): number | undefined {
  const index = stored.findLastIndex(({ message }) => message.role === 'assistant');
  const answer = stored[index];
  if (answer?.message.role !== 'assistant') return stored.at(-1)?.seq;
  const results = stored.slice(index).filter(({ message }) => message.role === 'tool');
  return results.length < answer.message.toolCalls.length ? answer.seq - 1 : stored.at(-1)?.seq;
}
