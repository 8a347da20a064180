import type { Answer, ScriptedModel } from '../support/model/scripted-model.ts';
import {
  callTools,
  errorChunk,
  fail,
  garbled,
  hangUp,
  pause,
  reset,
  type Step,
  say,
  think,
  truncated,
} from '../support/model/scripted-steps.ts';

/** The kinds of turns: how often each happens, and how its run must end. */
export const TURNS = {
  streamed: { weight: 35, status: 'ok' },
  looked: { weight: 10, status: 'ok' },
  approved: { weight: 20, status: 'ok' },
  denied: { weight: 10, status: 'ok' },
  busy: { weight: 5, status: 'ok' },
  settings: { weight: 5, status: undefined },
  cancelled: { weight: 5, status: 'cancelled' },
  'cancelled in a tool': { weight: 5, status: 'cancelled' },
  faulty: { weight: 5, status: 'error' },
} as const;
export type TurnKind = keyof typeof TURNS;

/** The ways in which an upstream fails. */
const FAULTS: Record<string, Step> = {
  reset: reset(),
  garbled: garbled(),
  truncated: truncated(),
  'hang-up': hangUp(),
  'error chunk': errorChunk('the engine died'),
};
const FAULT_NAMES = [...Object.keys(FAULTS), 'refusal', 'overload'];

const bash = (command: string) => callTools({ name: 'bash', arguments: { command } });

/** The answers to each message: the first, then the one after its tools have run. */
const toScript = (): Record<string, Answer[]> => ({
  streamed: [[think('Let me ', 'see. '), ...streamed(25)]],
  busy: [streamed(8)],
  looked: [callTools({ name: 'list_directory', arguments: { path: '.' } }), streamed(5)],
  approved: [bash(WITH_CHILDREN), streamed(5)],
  denied: [bash('echo never | tee asked'), say('Then not.')],
  cancelled: [streamed(400)],
  'cancelled in a tool': [bash(`${WITH_CHILDREN}; sleep 60`), say('Too late.')],
  ...Object.fromEntries(
    Object.entries(FAULTS).map(([name, fault]) => [`faulty: ${name}`, [[say('Not ', 'a '), fault]]]),
  ),
  'faulty: refusal': [fail(400)],
  'faulty: overload': [fail(503)],
});

/** Scripts the model's answers to every kind of turn. */
export function scriptTurns(model: ScriptedModel): void {
  const script = toScript();
  model.onRequest(({ messages }) => {
    const asked = messages.findLastIndex(({ role }) => role === 'user');
    // The same message may contain the text before a failed answer.
    const text = JSON.stringify(messages[asked]?.content);
    const [message = ''] = Object.keys(script).sort(
      (a, b) => text.lastIndexOf(toMessage(b)) - text.lastIndexOf(toMessage(a)),
    );
    return script[message]?.[messages.slice(asked).filter(({ role }) => role === 'assistant').length];
  });
}

const toMessage = (name: string): string => `[${name}]`;

/** The message that begins a turn of this kind. */
export function messageOf(kind: TurnKind, random: () => number): string {
  if (kind !== 'faulty') return toMessage(kind);
  return toMessage(`faulty: ${FAULT_NAMES[Math.floor(random() * FAULT_NAMES.length)]}`);
}

/** Every kind, as often as its weight. */
const DECK = Object.entries(TURNS).flatMap(
  ([kind, { weight }]) => Array.from({ length: weight }, () => kind as TurnKind), // its own keys
);

export const pickTurn = (random: () => number): TurnKind => DECK[Math.floor(random() * DECK.length)] ?? 'streamed';

/** A shell with child processes, one of them in the background, that prints a little. */
const WITH_CHILDREN = 'sleep 0.2 & for n in 1 2 3; do (echo line $n; sleep 0.02); done; printf "%2000s\\n" x; wait';

const streamed = (pieces: number): Step[] =>
  Array.from({ length: pieces }, (_, n) => [say(`Piece ${n} of the answer. `), pause(30)]).flat();
