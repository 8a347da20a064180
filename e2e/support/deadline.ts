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

/** Real time passes. Only for tests of what happens in it; everything else waits for an event. */
export const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    systemTimers.after(ms, resolve);
  });
