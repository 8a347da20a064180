import type { Clock } from '../clock.ts';

interface TokenBucketOptions {
  /** Called each time, because the limit may change while the bucket is in use. */
  limit(): { burst: number; perSecond: number };
  clock: Pick<Clock, 'monotonic'>;
}

/** A rate limit: a budget of events that refills over time. */
export interface TokenBucket {
  /** Spends the weight and returns 0 if it is within the budget; otherwise the milliseconds until it will be. */
  take(weight?: number): number;
  /** Milliseconds until the budget is full again. */
  fullInMs(): number;
}

export function createTokenBucket({ limit, clock }: TokenBucketOptions): TokenBucket {
  let tokens = limit().burst;
  let countedMs = clock.monotonic();

  function refill({ burst, perSecond }: ReturnType<typeof limit>): void {
    const nowMs = clock.monotonic();
    tokens = Math.min(burst, tokens + ((nowMs - countedMs) * perSecond) / 1000);
    countedMs = nowMs;
  }

  return {
    take(weight = 1) {
      const now = limit();
      refill(now);
      if (tokens < weight) return Math.ceil(((weight - tokens) * 1000) / now.perSecond);
      tokens -= weight;
      return 0;
    },
    fullInMs() {
      const now = limit();
      refill(now);
      return Math.ceil(((now.burst - tokens) * 1000) / now.perSecond);
    },
  };
}
