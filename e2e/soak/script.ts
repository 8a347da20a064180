import type { ScriptedModel } from '../scripted-model.ts';
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
} from '../scripted-steps.ts';

/** What one turn is about, how often it happens, and how its run has to end. */
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

/** Each way in which an upstream fails. */
const FAULTS: Record<string, Step> = {
  reset: reset(),
  garbled: garbled(),
  truncated: truncated(),
  'hang-up': hangUp(),
  'error chunk': errorChunk('the engine died'),
};
const FAULT_NAMES = [...Object.keys(FAULTS), 'refusal', 'overload'];

/** Puts the answers to every kind of turn into the model. */
export function scriptTurns(model: ScriptedModel): void {
  const bash = (command: string) => callTools({ name: 'bash', arguments: { command } });
  model.when('streamed', [think('Let me ', 'see. '), ...streamed(25)]);
  model.when('busy', streamed(8));
  model.when('looked', callTools({ name: 'list_directory', arguments: { path: '.' } }), streamed(5));
  model.when('approved', bash(WITH_CHILDREN), streamed(5));
  model.when('denied', bash('echo never'), say('Then not.'));
  model.when('cancelled', streamed(400));
  model.when('cancelled in a tool', bash(`${WITH_CHILDREN}; sleep 60`), say('Too late.'));
  for (const [name, fault] of Object.entries(FAULTS)) model.when(`faulty: ${name}`, [say('This will ', 'not '), fault]);
  model.when('faulty: refusal', fail(400));
  model.when('faulty: overload', fail(503));
}

/** The message that begins a turn of this kind. */
export function messageOf(kind: TurnKind, random: () => number): string {
  if (kind !== 'faulty') return `${kind}, please`;
  return `faulty: ${FAULT_NAMES[Math.floor(random() * FAULT_NAMES.length)]}`;
}

/** Every kind as often as its weight says. */
const DECK = Object.entries(TURNS).flatMap(
  ([kind, { weight }]) => Array.from({ length: weight }, () => kind as TurnKind), // its own keys
);

export const pickTurn = (random: () => number): TurnKind => DECK[Math.floor(random() * DECK.length)] ?? 'streamed';

/** A shell with children of its own, one of them in the background, that prints a little. */
const WITH_CHILDREN = 'sleep 0.2 & for n in 1 2 3; do (echo line $n; sleep 0.02); done; printf "%2000s\\n" x; wait';

const streamed = (pieces: number): Step[] =>
  Array.from({ length: pieces }, (_, n) => [say(`Piece ${n} of the answer. `), pause(30)]).flat();
