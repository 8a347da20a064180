import { isAsked, type Message } from './message.ts';

/** The last text of the latest run, or of a sub-agent; its last turn may have no text. Empty: it wrote none. */
export function lastWords(messages: readonly Message[]): string {
  const start = messages.findLastIndex((message) => isAsked(message) && message.steered === undefined);
  const last = messages.findLast(
    (message, index) => index > start && message.role === 'assistant' && message.content.trim() !== '',
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
