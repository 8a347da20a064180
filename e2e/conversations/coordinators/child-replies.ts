import { createRandom, type Random } from '../../checker/random.ts';
import type { ScriptedAnswer } from '../../support/wires/wire.ts';

/** Every number that the conversation of a child holds has this many numbers for itself; the coordinator has the first ones. */
const OWN_NUMBERS = 1_000;

/** Whether a numbered text belongs to the conversation of this child; 0: to that of the coordinator. */
export const isOf = (child: number, name: string): boolean =>
  Math.floor(Number(/\d+/.exec(name)?.[0] ?? 0) / OWN_NUMBERS) === child;

export const ownNumber = (child: number, number: number): number => child * OWN_NUMBERS + number;

/** How a child answers. */
export interface ChildAnswer {
  /** Undefined: its model fails. */
  answer: ScriptedAnswer | undefined;
  /** A text that only this answer has. */
  mark: string;
}

const MOST_MESSAGES = 12;
const TOOLS = ['look', 'look', 'touch', 'fetch', 'todo'] as const;

/**
 * The answer to a request with so many messages: the same whenever it is asked, so that a seed gives the same conversation.
 * `next`: a number that nothing else in the conversation has.
 */
export function answerAsChild(about: { child: number; messages: number }, next: () => number): ChildAnswer {
  const random = createRandom(about.child * 7_919 + about.messages);
  const thoughts = random.chance(0.6) ? { thoughts: `I think about message ${next()}.` } : {};
  if (random.chance(0.04)) return { answer: undefined, mark: '' };
  if (about.messages > MOST_MESSAGES || random.chance(0.5)) {
    const mark = `answer to message ${next()}`;
    return { answer: { ...thoughts, text: mark }, mark };
  }
  const calls = Array.from({ length: random.int(1, 2) }, () => callOf(next(), random));
  return { answer: { ...thoughts, calls }, mark: `message ${calls[0]?.number}` };
}

function callOf(number: number, random: Random) {
  const name = random.pick(TOOLS);
  const text = `message ${number}`;
  const todo = { items: [{ text, status: random.pick(['pending', 'done']) }] };
  const given = name === 'todo' ? todo : { text, chars: random.pick([5, 30, 900]) };
  return { id: `call_c${number}`, name, arguments: given, number };
}
