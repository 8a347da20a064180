import type { QueuedMessage } from '../../../../protocol/queue/queue-methods.ts';

type Place = Pick<QueuedMessage, 'runId' | 'steer'>;

/** The place where a message ends up, from 0: those for the run in progress stay before the others. Undefined: it waits no more. */
export function toAllowedPlace(queue: readonly Place[], runId: string, to: number): number | undefined {
  const moved = queue.find((one) => one.runId === runId);
  if (moved === undefined) return undefined;
  const steering = queue.filter(({ steer }) => steer).length;
  const [first, last] = moved.steer ? [0, steering - 1] : [steering, queue.length - 1];
  return Math.min(Math.max(to, first), last);
}

/** The queue with one message at another place. */
export function withMoved<T extends Place>(queue: readonly T[], runId: string, to: number): readonly T[] {
  const moved = queue.find((one) => one.runId === runId);
  if (moved === undefined) return queue;
  return queue.filter((one) => one !== moved).toSpliced(to, 0, moved);
}

/** Where a message goes that is dropped at a height: `middles` are those of all messages in their order. */
export function toDropPlace(middles: readonly number[], from: number, y: number): number {
  return middles.filter((middle, place) => place !== from && middle < y).length;
}

/** What is said of a message that was moved, or asked to. */
export const toPlaceWords = (place: number, count: number, hasMoved: boolean): string =>
  hasMoved ? `Moved to ${place + 1} of ${count}.` : `It stays ${place + 1} of ${count}.`;
