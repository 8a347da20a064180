import type { Random } from '../checker/random.ts';
import type { Reply } from './simulate.ts';
import type { Talk } from './talk.ts';

/** What a step does. */
export type Run = (talk: Talk, random: Random) => Promise<void>;

/** An answer with words, thoughts, or calls of tools. */
export function answerOf(talk: Talk, random: Random, calls: number): Reply {
  const thoughts = random.chance(0.6) ? { thoughts: `I think about ${talk.nextMessage()}.` } : {};
  const text = calls === 0 || random.chance(0.4) ? { text: `answer to ${talk.nextMessage()}` } : {};
  const made = Array.from({ length: calls }, () => {
    const name = random.pick(CALLED);
    return { id: talk.nextCallId(), name, arguments: argumentsOf(name, talk.nextMessage(), random) };
  });
  return { answer: { ...thoughts, ...text, ...(made.length > 0 && { calls: made }) } };
}

const CALLED = ['look', 'look', 'look', 'touch', 'touch', 'fetch', 'start', 'apply_patch', 'ask_user'] as const;

function argumentsOf(name: (typeof CALLED)[number], text: string, random: Random): Record<string, unknown> {
  switch (name) {
    case 'ask_user':
      return { question: text, choices: random.chance(0.5) ? [{ label: 'yes' }, { label: 'no' }] : [] };
    case 'apply_patch': // a file that is there already is refused
      return { patch: `*** Begin Patch\n*** Add File: ${random.pick(FILES)}.txt\n+${text}\n*** End Patch` };
    default:
      return { text, chars: random.pick([5, 30, 900]) };
  }
}

const FILES = Array.from({ length: 20 }, (_, n) => `f${n}`);

export const refusalWith = (message: string): Reply => ({
  fail: { status: 400, body: { error: { message, code: 400, status: 'INVALID_ARGUMENT' }, type: 'error' } },
});

/** A turn with some rounds of calls, and words at the end. */
export function scriptTurn(talk: Talk, random: Random): void {
  const rounds = random.pick([0, 0, 1, 1, 2, 3]);
  for (let round = 0; round < rounds; round += 1) talk.witness.script(answerOf(talk, random, random.int(1, 3)));
  talk.witness.script(answerOf(talk, random, 0));
}

export async function sendScripted(talk: Talk, random: Random): Promise<void> {
  scriptTurn(talk, random);
  await talk.send(`${talk.nextMessage()} ${'word '.repeat(random.pick([0, 5, 60]))}`);
}
