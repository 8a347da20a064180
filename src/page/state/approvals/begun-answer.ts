import { type Signal, signal } from '@preact/signals';
import type { GivenAnswers } from './given-answers.ts';

/** What a person has chosen and written about a question that they have not decided yet. */
export interface BegunAnswer {
  /** The calls that do not run although the others do, by their ids. */
  denied: Signal<readonly string[]>;
  answers: Signal<GivenAnswers>;
  /** Why nothing of it should run; undefined while no reason is asked for. */
  reason: Signal<string | undefined>;
}

/** So many questions are remembered. */
const MOST = 50;

const begun = new WeakMap<object, Map<string, BegunAnswer>>();

/**
 * What was begun at a question, in the conversation or in the inbox: its card goes and comes again when a person scrolls or looks
 * at something else. `desk` is that of the person who is logged in.
 */
export function begunAnswerOf(desk: object, approvalId: string): BegunAnswer {
  const all = begun.get(desk) ?? new Map<string, BegunAnswer>();
  begun.set(desk, all);
  const known = all.get(approvalId) ?? { denied: signal([]), answers: signal({}), reason: signal(undefined) };
  all.delete(approvalId);
  all.set(approvalId, known);
  for (const oldest of [...all.keys()].slice(0, -MOST)) all.delete(oldest);
  return known;
}
