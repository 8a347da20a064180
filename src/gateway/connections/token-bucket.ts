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
}

export function createTokenBucket({ burst, perSecond, clock }: TokenBucketOptions): TokenBucket {
  let tokens = burst;
  let countedMs = clock.monotonic();
  return {
    take(weight = 1) {
      const nowMs = clock.monotonic();
      tokens = Math.min(burst, tokens + ((nowMs - countedMs) * perSecond) / 1000);
      countedMs = nowMs;
      if (tokens < weight) return Math.ceil(((weight - tokens) * 1000) / perSecond);
      tokens -= weight;
      return 0;
    },
  };
}
