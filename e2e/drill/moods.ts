import type { Random } from '../checker/random.ts';
import {
  childrenNamedIn,
  isForPlan,
  leadCall,
  memoryCall,
  PLAN_TEXT,
  planCall,
  taskCall,
  watchCall,
} from '../checker/recording/agent-calls.ts';
import { effectCommand } from '../checker/recording/effects-file.ts';
import { patchCall } from '../checker/recording/patch-call.ts';
import type { Answer, ChatRequest } from '../support/model/scripted-model.ts';
import {
  callTools,
  pause,
  reset,
  type ScriptedCall,
  say,
  stall,
  think,
  useTokens,
} from '../support/model/scripted-steps.ts';

interface MoodsOptions {
  /** Goes into the tags of its commands. */
  name: string;
  /** The file in the working directory that its commands append to. */
  effectsFile: string;
  /** What an answer uses. */
  tokens: { from: number; to: number };
}

/** An unpredictable model: it talks, thinks, is slow, hangs, breaks off, calls tools, and gives work to sub-agents. */
export function createMoods(
  random: Random,
  { name, effectsFile: file, tokens }: MoodsOptions,
): (request: ChatRequest) => Answer {
  const uses = () => useTokens({ prompt: random.int(tokens.from, tokens.to), completion: random.int(1, 500) });
  const harmless: ScriptedCall[] = [
    { name: 'list_directory', arguments: { path: '.' } },
    { name: 'read_file', arguments: { path: file } },
    { name: 'read_file', arguments: '{"path": broken' },
  ];
  let calls = 0;
  /** Stands in one call alone. */
  const nextTag = (): string => {
    calls += 1;
    return `${name}-${String(calls).padStart(5, '0')}`;
  };
  /** The children of the coordinator that asks. */
  let children: string[] | undefined;
  const bash = (): ScriptedCall => {
    const tag = nextTag();
    const secs = random.chance(0.15) ? 3 : random.int(0, 300) / 1_000;
    const command = effectCommand({ tag, file, secs });
    return { name: 'bash', arguments: { command: `${command}${random.pick(AFTERWARDS)}` } };
  };
  const used = (): ScriptedCall => {
    const tag = nextTag();
    return random.pick<ScriptedCall>([
      patchCall(tag),
      patchCall(tag),
      { name: 'ask_user', arguments: { question: `Which way, ${tag}?` } },
      { name: 'bash', arguments: { command: `echo ${tag}; sleep ${random.int(0, 4)}`, run_in_background: true } },
      { name: 'web_fetch', arguments: { url: 'http://127.0.0.1:9/' } }, // refused, but asked about
      ...[taskCall(tag), taskCall(tag), planCall(tag), watchCall(tag, file), memoryCall(tag)],
    ]);
  };
  // Without ids of their own: as from some servers, the calls of each answer are `call_0`, `call_1`, and so on.
  const call = (): ScriptedCall =>
    children
      ? leadCall(nextTag(), children, random)
      : random.chance(0.5)
        ? bash()
        : random.chance(0.7)
          ? used()
          : random.pick(harmless);
  const tools = () => [
    ...(random.chance(0.5) ? speech(random, 3) : []),
    callTools(...Array.from({ length: random.pick([1, 1, 1, 2, 3]) }, call)),
  ];
  const first = () => {
    const mood = random.fraction();
    if (mood < 0.45) return tools();
    if (mood < 0.52) return [...speech(random, 4), stall()];
    if (mood < 0.55) return [...speech(random, 6), reset()];
    return speech(random, random.int(1, 60));
  };
  const next = () => (random.chance(0.3) ? tools() : speech(random, random.int(1, 12)));
  return (request) => {
    children = childrenNamedIn(request);
    if (isForPlan(request) && random.chance(0.8)) return [say(PLAN_TEXT), uses()];
    const depth = resultsSinceUser(request);
    if (depth === 0) return [...first(), uses()];
    return [...(depth < 4 ? next() : speech(random, 2)), uses()];
  };
}

const AFTERWARDS = ['', '', '', '; seq 1 4000', '; env; id', '; exit 3'];

/** Some reasoning, and this many pieces of text, at once or slowly. */
function speech(random: Random, pieces: number) {
  const slowest = random.pick([0, 0, 2, 10, 30]);
  return [
    ...(random.chance(0.3) ? [think('Let me ', 'see. ')] : []),
    ...Array.from({ length: pieces }, (_, index) => [
      say(`${random.pick(WORDS)} ${index} `),
      ...(slowest > 0 ? [pause(random.int(0, slowest))] : []),
    ]).flat(),
  ];
}

const WORDS = ['wind', 'tide', 'Grüße', '波', 'a longer piece of text that takes more room in a frame', '🜁'];

const resultsSinceUser = ({ messages }: ChatRequest): number =>
  messages.slice(messages.findLastIndex(({ role }) => role === 'user')).filter(({ role }) => role === 'assistant')
    .length;
