import type { Random } from '../checker/random.ts';
import type { Reply } from './simulate.ts';
import type { Talk } from './talk.ts';

/** What a step does. */
export type Run = (talk: Talk, random: Random) => Promise<void>;

/** An answer with words, thoughts, or calls of tools. */
export function answerOf(talk: Talk, random: Random, calls: number): Reply {
  const thoughts = random.chance(0.6) ? { thoughts: `I think about ${talk.nextMessage()}.` } : {};
  const text = calls === 0 || random.chance(0.4) ? { text: `answer to ${talk.nextMessage()}` } : {};
  const made = Array.from({ length: calls }, () => ({
    id: talk.nextCallId(),
    name: random.pick(['look', 'look', 'touch']),
    arguments: { text: talk.nextMessage(), chars: random.pick([5, 30, 900]) },
  }));
  return { answer: { ...thoughts, ...text, ...(made.length > 0 && { calls: made }) } };
}

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
