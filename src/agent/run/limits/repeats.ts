import { hash } from 'node:crypto';
import type { ToolOutcome } from '../../tools/tool.ts';

/** What the journal keeps about the end of a call, to recognise repetitions. */
export type CallTrace =
  /** `changes`: it ran and may have changed something. */
  | { kind: 'result'; call: string; result: string; changes?: true }
  /** Not run, because it repeats an earlier call. */
  | { kind: 'stopped'; call: string }
  /** A person denied it. */
  | { kind: 'denied'; call: string; digest: string };

interface Repeated {
  result: string;
  /** How many times in a row the call had this result. */
  times: number;
  /** The turn in which a repetition was stopped for the first time. */
  stoppedIn: number | undefined;
}

/** The calls of a run that may repeat: a fold of its traces. */
export interface Repeats {
  calls: Map<string, Repeated>;
  /** The calls that changed something, each with its result. */
  changes: Set<string>;
  /** The digests of denied calls. */
  denied: Set<string>;
  /** How many calls of the current turn were stopped. */
  stopped: number;
  /** The number of consecutive turns, before the current one, whose calls were all stopped. */
  stuckTurns: number;
}

export const newRepeats = (): Repeats => ({
  calls: new Map(),
  changes: new Set(),
  denied: new Set(),
  stopped: 0,
  stuckTurns: 0,
});

/** Identical calls may have the same result this many times. */
export const SAME_RESULTS = 2;

/** Applies the end of a call, in place. */
export function addTrace(repeats: Repeats, trace: CallTrace, turn: number): void {
  const known = repeats.calls.get(trace.call);
  switch (trace.kind) {
    case 'result':
      if (known?.result === trace.result) {
        known.times += 1;
        return;
      }
      if (trace.changes) noteChange(repeats, `${trace.call} ${trace.result}`);
      repeats.calls.set(trace.call, { result: trace.result, times: 1, stoppedIn: undefined });
      return;
    case 'stopped':
      repeats.stopped += 1;
      if (known) known.stoppedIn ??= turn;
      return;
    case 'denied':
      repeats.denied.add(trace.digest);
      return;
  }
}

/**
 * After a change, earlier calls may have other results, such as a test after an edit. One that happened before in this
 * run does not count: otherwise two calls that alternate would allow each other for ever.
 */
function noteChange({ calls, changes }: Repeats, change: string): void {
  if (changes.has(change)) return;
  changes.add(change);
  calls.clear();
}

/** Closes the turn that had this many calls. */
export function endTurn(repeats: Repeats, calls: number): void {
  repeats.stuckTurns = isStuck(repeats, calls) ? repeats.stuckTurns + 1 : 0;
  repeats.stopped = 0;
}

/** Whether all calls of the current turn were stopped. */
export const isStuck = ({ stopped }: Repeats, calls: number): boolean => calls > 0 && stopped >= calls;

/**
 * What happens to a call. `denied`: a person denied it before. `stop`: the model reads that it repeats itself. `ask`: it
 * repeats itself although it has read that.
 */
export type Verdict = 'run' | 'denied' | 'stop' | 'ask';

/** Judges a call by what the run did before. */
export function verdictOf(repeats: Repeats, { call, digest }: CallKeys, turn: number): Verdict {
  if (repeats.denied.has(digest)) return 'denied';
  const known = repeats.calls.get(call);
  if (!known || known.times < SAME_RESULTS) return 'run';
  return known.stoppedIn === undefined || known.stoppedIn === turn ? 'stop' : 'ask';
}

export interface CallKeys {
  /** The `fingerprint` of the call. */
  call: string;
  /** The digest that an approval of the call is bound to. */
  digest: string;
}

/** How many times the call has had its latest result. */
export const timesOf = ({ calls }: Repeats, call: string): number => calls.get(call)?.times ?? 0;

/** The same text for the same tool and arguments. */
export const fingerprint = (tool: string, canonicalArguments: string): string => shortHash([tool, canonicalArguments]);

/** The same text for the same result, whatever the file with the whole output is called. */
export const resultHash = ({ output, outcome, exitCode, kept }: ToolOutcome): string =>
  shortHash([outcome, exitCode ?? null, kept ? output.replaceAll(kept.name, '') : output]);

/** Shorter than a whole hash, because the journal keeps two for each call. */
const shortHash = (value: unknown): string => hash('sha256', JSON.stringify(value), 'base64url').slice(0, 22);
