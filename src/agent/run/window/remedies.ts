import { isAsked, type Message } from '../../message.ts';
import { type Model, type ModelRequest, ProviderError } from '../../providers/model.ts';
import type { RunContext } from '../run-context.ts';
import { bytesOfPreamble } from './token-count.ts';

/** Adds to the error of a refused request what a person can do, where the daemon knows it. */
export function withRemedy(error: unknown, run: RunContext, asking: { model: Model; request: ModelRequest }): unknown {
  if (!(error instanceof ProviderError)) return error;
  if (isUnexplained(error)) {
    if (run.progress.turns > 1) return error.adding(REWIND);
    return findRefusedTurn(run.messages) ? error.adding(REWIND_MORE) : error;
  }
  if (error.refusal?.about !== 'window') return error;
  const { size, bytesPerToken } = run.window.windows.of(asking.model);
  const tokens = Math.ceil(bytesOfPreamble(asking.request) / bytesPerToken);
  return size > 0 && tokens >= size ? error.adding(tooLongPreamble(tokens)) : error;
}

const REWIND = 'If the server refuses the next message, too, /rewind takes back the turn that it refuses.';
const REWIND_MORE = 'If the server keeps refusing, /rewind takes back this message, and once more the turn before it.';
const tooLongPreamble = (tokens: number): string =>
  `The instructions and tools alone take about ${tokens} tokens. Choose a model with a larger window, or set its contextWindow if its server allows more.`;

/** The upstream refused a request, and nothing is known of the reason. */
export const isUnexplained = (error: unknown): boolean =>
  error instanceof ProviderError && error.kind === 'refused' && !error.refusal && !error.detail;

/**
 * The indexes of the turn before the latest message of the person, if it broke off after results of calls: the upstream
 * may have refused them. Undefined otherwise.
 */
export function findRefusedTurn(messages: readonly Message[]): { from: number; to: number } | undefined {
  const latest = messages.findLastIndex(isAsked);
  const before = messages.slice(0, Math.max(0, latest));
  const to = before.findLastIndex((message) => message.role !== 'user' || isAsked(message));
  if (before[to]?.role !== 'tool') return undefined;
  return { from: before.findLastIndex(isAsked), to };
}
