import type { ChatMessage, ForeignText } from './chat-message.ts';

/** A part of a message, and what stands between its text and that of the next part. */
export interface MessagePart {
  message: ChatMessage;
  glue: string;
}

/** The parts of a message as one. */
export function joinMessages(first: MessagePart, rest: readonly MessagePart[]): ChatMessage {
  const parts = [first, ...rest];
  const all = parts.map(({ message }) => message);
  return {
    ...first.message,
    text: toText(parts),
    foreign: once(all.flatMap(({ foreign }) => foreign)),
    files: all.flatMap(({ files }) => files),
    unreadable: all.find(({ unreadable }) => unreadable !== undefined)?.unreadable,
    isForBot: all.some(({ isForBot }) => isForBot),
  };
}

const toText = (parts: readonly MessagePart[]): string =>
  parts
    .filter(({ message }) => message.text !== '')
    .map(({ message: { text }, glue }, index, { length }) => (index === length - 1 ? text : `${text}${glue}`))
    .join('');

/** The parts of a forwarded album say the same. */
const once = (foreign: readonly ForeignText[]): ForeignText[] =>
  foreign.filter(
    ({ kind, from, text }, index) =>
      foreign.findIndex((other) => other.kind === kind && other.from === from && other.text === text) === index,
  );
