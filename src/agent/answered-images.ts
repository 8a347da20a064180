import { seenIn } from './attached-content.ts';
import type { Message } from './message.ts';

/** What the answers of one model show about the images of a conversation. */
interface Answered {
  /** The index of its latest answer with a mark: the model has answered with all images before it. 0: there is none. */
  upTo: number;
  /** The images that its server refused before the model had answered with them. */
  withheld: ReadonlySet<string>;
}

export function findAnswered(messages: readonly Message[], modelId: string): Answered {
  const marks = messages.map((message) =>
    message.role === 'assistant' && message.images?.model === modelId ? message.images : undefined,
  );
  return {
    upTo: Math.max(
      0,
      marks.findLastIndex((mark) => mark),
    ),
    withheld: new Set(marks.flatMap((mark) => mark?.withheld ?? [])),
  };
}

/** The ids of the attachments that a model reads in these messages. */
export const idsIn = (messages: readonly Message[]): Set<string> =>
  new Set(messages.flatMap((message) => seenIn(message).map(({ attachment_id: id }) => id)));
