import type { StreamEventOf } from '../../../protocol/stream-events.ts';
import type { Logged, WorkstreamOnDisk } from '../evidence.ts';

export type Asked = StreamEventOf<'approve_request'> & {
  budget: NonNullable<StreamEventOf<'approve_request'>['budget']>;
};

const isAsked = ({ event }: Logged): boolean => event.type === 'approve_request' && event.budget !== undefined;

/** The questions about budgets in a log, with their places. */
export const questionsIn = ({ events }: WorkstreamOnDisk): { at: number; asked: Asked }[] =>
  events.flatMap((logged, at) => (isAsked(logged) ? [{ at, asked: logged.event as Asked }] : [])); // as just checked

/** The tokens of the answers in a log, each counted at its end. */
export const answersIn = (events: readonly Logged[]): number[] =>
  events.flatMap(({ event }, index) =>
    event.type === 'status' && events[index - 1]?.event.type === 'stream_end' ? [event.total_tokens] : [],
  );

export const sum = (amounts: readonly number[]): number => amounts.reduce((total, amount) => total + amount, 0);

/** Each answer of a log with the time at which it was stored. */
export function timedAnswers({ events, runs }: WorkstreamOnDisk): { tokens: number; atMs: number }[] {
  const times = runs
    .flatMap(({ journal }) => journal.flatMap(({ kind, atMs }) => (kind === 'model_answered' ? [atMs] : [])))
    .sort((a, b) => a - b);
  return answersIn(events).map((tokens, index) => ({ tokens, atMs: times[index] ?? Number.POSITIVE_INFINITY }));
}
