import type { Clock } from '../../clock.ts';

interface TokenBucketOptions {
  burst: number;
  perSecond: number;
  clock: Pick<Clock, 'monotonic'>;
}

/** A budget of events that refills with time. */
export interface TokenBucket {
  /** 0 when an event of this weight is within the budget, otherwise the milliseconds until it will be. */
  take(weight?: number): number;
  /** Milliseconds until all of the budget is there again. */
  fullInMs(): number;
}

export function createTokenBucket({ burst, perSecond, clock }: TokenBucketOptions): TokenBucket {
  let tokens = burst;
  let countedMs = clock.monotonic();

  function refill(): void {
    const nowMs = clock.monotonic();
    tokens = Math.min(burst, tokens + ((nowMs - countedMs) * perSecond) / 1000);
    countedMs = nowMs;
  }

  return {
    take(weight = 1) {
      refill();
      if (tokens < weight) return Math.ceil(((weight - tokens) * 1000) / perSecond);
      tokens -= weight;
      return 0;
    },
    fullInMs() {
      refill();
      return Math.ceil(((burst - tokens) * 1000) / perSecond);
    },
  };
}
