import type { Clock } from '../../clock.ts';

interface TokenBucketOptions {
  burst: number;
  perSecond: number;
  clock: Pick<Clock, 'monotonic'>;
}

/** A budget of events that refills with time. */
export interface TokenBucket {
  /** 0 when the event is within the budget, otherwise the milliseconds until one will be. */
  take(): number;
}

export function createTokenBucket({ burst, perSecond, clock }: TokenBucketOptions): TokenBucket {
  let tokens = burst;
  let countedMs = clock.monotonic();
  return {
    take() {
      const nowMs = clock.monotonic();
      tokens = Math.min(burst, tokens + ((nowMs - countedMs) * perSecond) / 1000);
      countedMs = nowMs;
      if (tokens < 1) return Math.ceil(((1 - tokens) * 1000) / perSecond);
      tokens -= 1;
      return 0;
    },
  };
}
