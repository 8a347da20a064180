import { beginsRun, type Message } from './message.ts';

/** The last text of the latest run, or of a sub-agent; its last turn may have no text. Empty: it wrote none. */
export function lastWords(messages: readonly Message[]): string {
  const start = messages.findLastIndex(beginsRun);
  const last = messages.findLast(
    (message, index) => index > start && message.role === 'assistant' && message.content.trim() !== '',
  );
  return last?.role === 'assistant' ? last.content : '';
}

/** What the model wrote with its last calls: the answer, if it says nothing after them. Earlier words are not about their results. */
export function wordsWithCalls(messages: readonly Message[]): string {
  const last = messages.findLast(
    (message) => beginsRun(message) || (message.role === 'assistant' && message.toolCalls.length > 0),
  );
  return last?.role === 'assistant' ? last.content : '';
}

/** The answer that was stored last, which may be empty. */
export function lastAnswer(messages: readonly Message[]): string {
  const last = messages.at(-1);
  return last?.role === 'assistant' ? last.content : '';
}

/** The last text of a run that does not end well. `partial`: an answer that broke off and is not stored yet. */
export function saidIn(messages: readonly Message[], partial: Message | undefined): { said?: string } {
  const said = lastWords(partial ? [...messages, partial] : messages);
  return said === '' ? {} : { said };
}
