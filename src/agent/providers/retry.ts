import type { Clock } from '../../clock.ts';
import { ProviderError } from './model.ts';

/**
 * Retries up to three attempts in total, if the upstream may recover. Does not retry if the upstream asks for a wait of
 * more than a minute. An attempt has to resolve with the first part of its answer, because nothing may be retried after
 * it.
 */
export async function withRetries<T>(
  attempt: () => Promise<T>,
  deps: { clock: Clock; random: () => number; signal: AbortSignal; onRetry?: (error: ProviderError) => void },
): Promise<T> {
  for (let tried = 1; ; tried++) {
    try {
      return await attempt();
    } catch (error) {
      const waitMs = waitBeforeNext(error, tried, deps.random);
      if (waitMs === undefined) throw error;
      if (error instanceof ProviderError) deps.onRetry?.(error);
      await deps.clock.sleep(waitMs, deps.signal);
    }
  }
}

/** Waits for the first item. The others are passed on by the iteration itself, so that they cost nothing more. */
export async function begun<T>(items: AsyncGenerator<T>): Promise<AsyncIterable<T>> {
  let first: IteratorResult<T> | undefined = await items.next();
  const iterator: AsyncIterator<T> = {
    next() {
      if (first === undefined) return items.next();
      const result = first;
      first = undefined;
      return Promise.resolve(result);
    },
    return: (value) => items.return(value),
  };
  return { [Symbol.asyncIterator]: () => iterator };
}

const MAX_ATTEMPTS = 3;
const FIRST_WAIT_MS = 500;
const MAX_WAIT_MS = 60_000;

function waitBeforeNext(error: unknown, tried: number, random: () => number): number | undefined {
  if (!(error instanceof ProviderError) || !error.retryable || tried >= MAX_ATTEMPTS) return undefined;
  const backoffMs = FIRST_WAIT_MS * 2 ** (tried - 1) * (0.5 + random());
  const waitMs = Math.max(backoffMs, error.retryAfterMs ?? 0);
  return waitMs > MAX_WAIT_MS ? undefined : waitMs;
}
