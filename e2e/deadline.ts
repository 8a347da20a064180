import { systemTimers } from '../protocol/client/timers.ts';

/** Rejects with `what` when `promise` takes too long: a test that waits in vain should say for what. */
export async function within<T>(promise: Promise<T>, ms: number, what: () => string): Promise<T> {
  const late = Promise.withResolvers<never>();
  const cancel = systemTimers.after(ms, () => late.reject(new Error(`not within ${ms} ms: ${what()}`)));
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    cancel();
  }
}

/** Real time passes. Only for tests of what happens in it; everything else waits for an event. */
export const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    systemTimers.after(ms, resolve);
  });
