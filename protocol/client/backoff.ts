import type { Timers } from './timers.ts';

/** Exponential backoff: 1 s, doubled up to 30 s, each shortened by up to half so that clients do not retry in step. */
export function createBackoff({ random }: Pick<Timers, 'random'>, { firstMs = 1000, maxMs = 30_000 } = {}) {
  let stepMs = firstMs;
  return {
    nextMs(): number {
      const ms = stepMs * (1 - random() / 2);
      stepMs = Math.min(maxMs, stepMs * 2);
      return Math.round(ms);
    },
    reset(): void {
      stepMs = firstMs;
    },
  };
}
