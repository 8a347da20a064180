/** Time for client code, which also runs in browsers. Tests pass one they move by hand. */
export interface Timers {
  /** Milliseconds from an arbitrary start; never goes back. */
  now(): number;
  /** Calls back once after `ms`; the answer cancels it. */
  after(ms: number, callback: () => void): () => void;
  /** 0 ≤ x < 1, for jitter. */
  random(): number;
}

/** What a system's timer can count up to, 24 days; told more it would call back at once. */
const LONGEST_MS = 2 ** 31 - 1;

/** The timers of the platform. */
export const systemTimers: Timers = {
  now: () => performance.now(),
  after(ms, callback) {
    // biome-ignore lint/style/noRestrictedGlobals: the one place of the clients that asks the system.
    const timer = setTimeout(callback, Math.min(ms, LONGEST_MS));
    return () => clearTimeout(timer);
  },
  random: () => Math.random(),
};
