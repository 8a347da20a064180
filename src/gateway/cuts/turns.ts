import { GatewayError } from '../../../protocol/errors.ts';
import { isAsked as isAskedMessage, type Message } from '../../agent/message.ts';
import type { StoredMessage } from '../history/messages.ts';
import { isLaterInRun } from './unmarked-feedback.ts';

/** A message of the person and everything up to the next one. */
export interface Turn {
  firstSeq: number;
  lastSeq: number;
  /** Undefined for messages before the first one of the person. */
  asked: AskedMessage | undefined;
}

/** A stored message of the person. */
export type AskedMessage = StoredMessage & { message: Extract<Message, { role: 'user' }> };

/** The turns of a conversation. Feedback that was given with an approval belongs to the turn that asked. */
export function toTurns(messages: readonly StoredMessage[]): Turn[] {
  const turns: Turn[] = [];
  for (const [index, message] of messages.entries()) {
    const turn = turns.at(-1);
    const asked = isAsked(message) && !isInside(message, messages[index - 1]) ? message : undefined;
    if (turn && !asked) turn.lastSeq = message.seq;
    else turns.push({ firstSeq: message.seq, lastSeq: message.seq, asked });
  }
  return turns;
}

/**
 * The turns of messages and of those after them. The first of `later` may have begun in these messages. Without them it
 * is only known that its first message does not belong to a turn after it.
 */
export function joinTurns(messages: readonly StoredMessage[], later: readonly Turn[]): Turn[] {
  const turns = toTurns(messages);
  const [before, [first, ...rest]] = [turns.at(-1), later];
  if (!before || !first || (first.asked && !isInside(first.asked, messages.at(-1)))) return [...turns, ...later];
  return [...turns.with(-1, { ...before, lastSeq: first.lastSeq }), ...rest];
}

/** Where to rewind to, so that the last `count` turns of the person are taken back. */
export function beforeLast(turns: readonly Turn[], count: number): number {
  const asked = turns.filter((turn) => turn.asked);
  const first = asked.at(-count);
  if (first) return first.firstSeq - 1;
  if (asked.length === 0) throw nothingAsked();
  const all = asked.length === 1 ? 'only 1 turn' : `only ${asked.length} turns`;
  throw new GatewayError('INVALID_REQUEST', `This conversation has ${all}.`);
}

/** Throws, and names the nearest ends of turns, if no turn ends at `seq`. */
export function requireTurnEnd(turns: readonly Turn[], seq: number): void {
  const last = turns.at(-1)?.lastSeq ?? 0;
  if (seq > last) throw new GatewayError('INVALID_REQUEST', `There is no message ${seq}. The last one is ${last}.`);
  const around = turns.find(({ firstSeq, lastSeq }) => seq >= firstSeq && seq < lastSeq);
  if (!around) return;
  throw new GatewayError(
    'INVALID_REQUEST',
    `Message ${seq} is inside a turn. Use ${around.firstSeq - 1} for the conversation before it, or ${around.lastSeq} for its end.`,
  );
}

/** The message of the person with this number; `found` is the one that is stored. Throws if it is none of a person. */
export function requireAsked(found: StoredMessage | undefined, seq: number): AskedMessage {
  if (!found) throw new GatewayError('NOT_FOUND', `This conversation has no message ${seq}.`);
  if (isAsked(found)) return found;
  throw new GatewayError('INVALID_REQUEST', `Message ${seq} is not a message of a person.`);
}

/** The last message of the person that began a turn. Throws if there is none. */
export function getLastAsked(turns: readonly Turn[]): AskedMessage {
  const asked = turns.findLast((turn) => turn.asked)?.asked;
  if (!asked) throw nothingAsked();
  return asked;
}

/** Whether its run failed without an answer. */
export const hasFailed = (stored: StoredMessage): stored is AskedMessage =>
  isAsked(stored) && stored.message.failed !== undefined;

/** A message that can be removed: the one with the number, or else the last one that failed. */
export function requireFailed(found: StoredMessage | undefined, seq: number | undefined): AskedMessage {
  if (seq !== undefined) requireAsked(found, seq);
  else if (!found) throw new GatewayError('INVALID_REQUEST', 'No message of this conversation has failed.');
  if (found && hasFailed(found)) return found;
  throw new GatewayError(
    'INVALID_REQUEST',
    `Message ${seq} has not failed. Rewind to take back a message with its answer.`,
  );
}

const nothingAsked = () => new GatewayError('INVALID_REQUEST', 'This conversation has no message of a person yet.');

const isAsked = (stored: StoredMessage): stored is AskedMessage => isAskedMessage(stored.message);

/** Feedback. */
const isInside = (asked: AskedMessage, before: StoredMessage | undefined): boolean =>
  asked.message.feedback === true || isLaterInRun(asked, before);
