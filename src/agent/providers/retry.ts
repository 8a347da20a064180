import type { Clock } from '../../clock.ts';
import { ProviderError } from './model.ts';

/**
 * Retries up to three attempts in total, while nothing has been delivered and the upstream may recover. Does not retry
 * if the upstream asks for a wait of more than a minute.
 */
export async function* withRetries<T>(
  attempt: () => AsyncIterable<T>,
  deps: { clock: Clock; random: () => number; signal: AbortSignal; onRetry?: (error: ProviderError) => void },
): AsyncGenerator<T> {
  for (let tried = 1; ; tried++) {
    const outcome = { delivered: false };
    try {
      yield* noting(attempt(), outcome);
      return;
    } catch (error) {
      const waitMs = outcome.delivered ? undefined : waitBeforeNext(error, tried, deps.random);
      if (waitMs === undefined) throw error;
      if (error instanceof ProviderError) deps.onRetry?.(error);
      await deps.clock.sleep(waitMs, deps.signal);
    }
  }
}

async function* noting<T>(parts: AsyncIterable<T>, outcome: { delivered: boolean }): AsyncGenerator<T> {
  for await (const part of parts) {
    outcome.delivered = true;
    yield part;
  }
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
