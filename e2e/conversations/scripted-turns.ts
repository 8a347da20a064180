import type { Random } from '../checker/random.ts';
import { ASKING_TOOL, hiddenTool, SERVER_TOOL } from './besides/agent-tools.ts';
import { leadCall } from './coordinators/lead-calls.ts';
import { SKILLS } from './knowledge/skill-files.ts';
import type { Reply } from './simulate.ts';
import type { Talk } from './talk.ts';

/** What a step does. */
export type Run = (talk: Talk, random: Random) => Promise<void>;

/** An answer with words, thoughts, or calls of tools. */
export function answerOf(talk: Talk, random: Random, calls: number): Reply {
  const thoughts = random.chance(0.6) ? { thoughts: `I think about ${talk.nextMessage()}.` } : {};
  const text = calls === 0 || random.chance(0.4) ? { text: `answer to ${talk.nextMessage()}` } : {};
  const { isLead } = talk;
  const made = Array.from({ length: calls }, (_, index) => {
    if (isLead && random.chance(0.35)) return { id: talk.nextCallId(), ...leadCall(talk, random) };
    const picked = random.pick(CALLED);
    // One beside the conversation at a time, so that a seed always gives the same conversation.
    const name = index > 0 && BESIDE.some((one) => one === picked) ? 'look' : picked;
    return { id: talk.nextCallId(), name, arguments: argumentsOf(name, talk.nextMessage(), random) };
  });
  return { answer: { ...thoughts, ...text, ...(made.length > 0 && { calls: made }) } };
}

const BESIDE = ['task', 'plan_agent', 'memory', 'recall', SERVER_TOOL, ASKING_TOOL] as const;
const CALLED = [
  ...([
    'look',
    'look',
    'look',
    'look',
    'touch',
    'touch',
    'touch',
    'fetch',
    'start',
    'apply_patch',
    'ask_user',
    'todo',
    'skill',
    'find_tool',
    'use_tool',
  ] as const),
  ...BESIDE,
] as const;

function argumentsOf(name: (typeof CALLED)[number], text: string, random: Random): Record<string, unknown> {
  switch (name) {
    case 'task':
      return { title: 'a part', prompt: text, ...(random.chance(0.3) && { mode: 'read_only' }) };
    case 'plan_agent':
      return { goal: text };
    case 'memory':
      return memoryArguments(random);
    case 'recall':
      return { query: random.pick(['word', 'message', 'x']), limit: random.int(1, 8) };
    case 'todo':
      return { items: [{ text, status: random.pick(['pending', 'in_progress', 'done']) }] };
    case 'skill':
      return skillArguments(random);
    case 'find_tool':
      return { query: random.pick(['note', 'read', `note 7 ${text}`]) };
    case 'use_tool':
      return { name: hiddenTool(random.int(0, 30)), arguments: { text } };
    case 'ask_user':
      return { question: text, choices: random.chance(0.5) ? [{ label: 'yes' }, { label: 'no' }] : [] };
    case 'apply_patch': // a file that is there already is refused
      return { patch: `*** Begin Patch\n*** Add File: ${random.pick(FILES)}.txt\n+${text}\n*** End Patch` };
    default:
      return { text, chars: random.pick([5, 30, 900]) };
  }
}

/** Their words are those of long messages, so that they are brought in with those. */
function memoryArguments(random: Random): Record<string, unknown> {
  const name = `word_${random.int(1, 8)}`;
  const mood = random.fraction();
  if (mood < 0.6) return { action: 'save', name, content: `A word about word number ${random.int(1, 100)}.` };
  return mood < 0.8 ? { action: 'search', query: 'word' } : { action: 'delete', name };
}

function skillArguments(random: Random): Record<string, unknown> {
  if (random.chance(0.3)) return { action: 'search', query: random.pick(['', 'does']) };
  return { action: 'load', name: random.pick(SKILLS) };
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
