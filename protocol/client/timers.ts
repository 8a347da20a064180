/** Time for client code, which also runs in browsers. Tests pass one they move by hand. */
export interface Timers {
  /** Milliseconds from an arbitrary start; never goes back. */
  now(): number;
  /** Calls back once after `ms`. Returns a function that cancels this. */
  after(ms: number, callback: () => void): () => void;
  /** 0 ≤ x < 1, for jitter. */
  random(): number;
}

/** The time of day. Unlike `Timers.now`, it goes on while the machine sleeps, and it may be set to another time. */
export const wallClock = {
  // biome-ignore lint/plugin: the one place of the clients that asks the system.
  now: (): number => Date.now(),
};

/** The longest timer of the platform, 24 days. A longer one would fire at once. */
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
