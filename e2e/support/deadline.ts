import { availableParallelism, loadavg } from 'node:os';
import { setTimeout } from 'node:timers';
import { systemTimers } from '../../protocol/client/timers.ts';

/**
 * Rejects with `what` when `promise` takes too long: a test that waits in vain should say for what. The deadline alone keeps
 * no test file running: one side of a race may be left waiting.
 */
export async function within<T>(promise: Promise<T>, ms: number, what: () => string): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`not within ${ms} ms: ${what()}`)), ms).unref();
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * A bound for something that takes up to `ms` on an idle machine: longer on one on which more wants to run than its processors can.
 * It finds what hangs; how quick something is, the benchmark measures.
 */
export const allowedMs = (ms: number): number => ms * (2 + (loadavg()[0] ?? 0) / availableParallelism());

/** Real time passes. Only for tests of what happens in it; everything else waits for an event. */
export const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    systemTimers.after(ms, resolve);
  });
