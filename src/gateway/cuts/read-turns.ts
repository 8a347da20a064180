import type { Messages, StoredMessage } from '../history/messages.ts';
import type { WorkstreamData } from '../workstreams/workstream-data.ts';
import { joinTurns, type Turn } from './turns.ts';

type Backwards = Pick<Messages, 'backwards'>;

/**
 * The last turns of a conversation, oldest first, with the messages behind compactions, because a rewind may bring them
 * back. Reads backwards until `isEnough` accepts the turns whose beginning is known, or to the beginning of the conversation.
 */
export async function readTurns(
  data: WorkstreamData,
  messages: Backwards,
  isEnough: (turns: readonly Turn[]) => boolean,
): Promise<Turn[]> {
  let turns: Turn[] = [];
  for await (const page of messages.backwards(data.wsId, rangeOf(data))) {
    turns = joinTurns(page, turns);
    if (isEnough(turns.slice(1))) return turns.slice(1);
  }
  return turns;
}

/** The last message that fulfils the condition; reads backwards until it is found. */
export async function findLast(
  data: WorkstreamData,
  messages: Backwards,
  isIt: (message: StoredMessage) => boolean,
): Promise<StoredMessage | undefined> {
  for await (const page of messages.backwards(data.wsId, rangeOf(data))) {
    const found = page.findLast(isIt);
    if (found) return found;
  }
  return undefined;
}

/** The message with this number, if it counts. */
export async function findMessage(
  { wsId, contextAfterSeq, messageCount }: WorkstreamData,
  messages: Pick<Messages, 'page'>,
  seq: number,
): Promise<StoredMessage | undefined> {
  const range = { after: Math.max(seq - 1, contextAfterSeq), upTo: Math.min(seq, messageCount), limit: 1 };
  return (await messages.page(wsId, range))[0];
}

/** Enough turns to rewind so many. */
export const hasAsked =
  (count: number) =>
  (turns: readonly Turn[]): boolean =>
    turns.filter(({ asked }) => asked).length >= count;

/** Enough turns to know whether one ends at this message. */
export const reaches =
  (seq: number) =>
  ([first]: readonly Turn[]): boolean =>
    first !== undefined && first.firstSeq <= seq;

const rangeOf = ({ contextAfterSeq: after, messageCount: upTo }: WorkstreamData) => ({ after, upTo });
