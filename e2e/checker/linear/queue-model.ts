import type { SequentialModel } from './find-order.ts';
import type { Recorded } from './history.ts';

interface State {
  /** In the order in which they were accepted. */
  waiting: readonly string[];
  /** Its run has begun, and its message is not in the conversation yet. */
  begun: string | undefined;
  said: readonly string[];
  /** The run of each accepted message; `?` if its answer was lost. */
  runs: Readonly<Record<string, string>>;
}

const UNKNOWN = '?';

/**
 * The messages of one workstream: each is accepted once however often it is sent, they begin in the order of their acceptance, and a
 * cancel drops those that wait. Runs end by themselves; a state goes on only as far as an answer needs it, so that few states differ.
 */
export const queueModel: SequentialModel<State, Recorded> = {
  initial: { waiting: [], begun: undefined, said: [], runs: {} },
  nameOf: (state) => JSON.stringify([state.waiting, state.begun, state.said, state.runs]),
  step(state, call) {
    switch (call.kind) {
      case 'send':
        return afterSend(state, call);
      case 'cancel': {
        const dropped = call.answer?.dropped;
        const before = later(state).filter(({ waiting }) => dropped === undefined || waiting.length === dropped);
        return before.flatMap(afterCancel);
      }
      case 'queue':
        return later(state).filter(({ waiting }) => isSame(waiting, call.answer));
      case 'history':
        return later(state).filter(({ said }) => isSame(said, call.answer));
      default:
        return [state];
    }
  },
};

function afterSend(state: State, { text, answer }: Recorded & { kind: 'send' }): State[] {
  const { waiting, runs } = state;
  const known = runs[text];
  const runId = answer?.runId ?? UNKNOWN;
  if (known === undefined) {
    const isTaken = runId !== UNKNOWN && Object.values(runs).includes(runId);
    return isTaken ? [] : [{ ...state, waiting: [...waiting, text], runs: { ...runs, [text]: runId } }];
  }
  if (known === UNKNOWN) return [{ ...state, runs: { ...runs, [text]: runId } }];
  return runId === UNKNOWN || runId === known ? [state] : [];
}

/** A key keeps its answer when its message is dropped. What has just begun may end before it is in the conversation. */
function afterCancel(state: State): State[] {
  const rest = { ...state, waiting: [] };
  return state.begun === undefined ? [rest] : [rest, { ...rest, begun: undefined }];
}

/** This state, and those that follow while runs end and others begin. */
function later(state: State): State[] {
  const states = [state];
  for (let next = successor(state); next; next = successor(next)) states.push(next);
  return states;
}

function successor({ waiting, begun, said, runs }: State): State | undefined {
  if (begun !== undefined) return { waiting, begun: undefined, said: [...said, begun], runs };
  const [first, ...rest] = waiting;
  return first === undefined ? undefined : { waiting: rest, begun: first, said, runs };
}

const isSame = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && one.every((text, index) => text === other[index]);
