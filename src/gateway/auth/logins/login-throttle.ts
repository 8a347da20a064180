import type { Clock } from '../../../clock.ts';
import { networkOf } from '../client-address.ts';

const WINDOW_MS = 5 * 60_000;
const PER_ACCOUNT = 5;
/**
 * How many failures lock an address, and all addresses together; the latter is higher, so that one address cannot lock
 * everyone out. The codes of a provider are bound to a browser, so nobody guesses them from many addresses.
 */
const LIMITS = {
  code: { address: 5, all: 50 },
  token: { address: 5, all: 50 },
  password: { address: 5, all: 50 },
  oidc: { address: 10, all: undefined },
  /** Every request for a login counts, also of people who share an address. */
  'oidc-start': { address: 60, all: undefined },
};
const MAX_LOCK_MS = 15 * 60_000;
const MAX_KEYS = 10_000;
/** More would wait longer than people do. */
const MAX_WAITING = 256;
const RETRY_CROWDED_MS = 1_000;

/** Slows down guessing. Each lock of a key lasts twice as long as the one before, up to a maximum. */
export interface LoginThrottle {
  /**
   * Counts the attempt as failed until it has ended, so that many simultaneous attempts cannot get through. They are no
   * failures yet: a team whose members all log in at the same moment, from one address, is not locked out by it.
   */
  begin(kind: keyof typeof LIMITS, address: string, account?: string): Attempt;
}

/**
 * `locked`: refuse the attempt. `crowded`: as many attempts are in progress as may still fail; begin again when `free`
 * resolves, or refuse it. `counted`: proceed, and report the end exactly once.
 */
export type Attempt =
  | { kind: 'locked'; retryAfterMs: number }
  | { kind: 'crowded'; free: Promise<void> }
  | { kind: 'counted'; ended(how: 'succeeded' | 'failed'): void };

interface Failures {
  /** Times of the failures in the current window, oldest first. */
  atMs: number[];
  /** Attempts in progress. */
  pending: number;
  /** Called when one of them has ended. */
  waiting: (() => void)[];
  locks: number;
  lockedUntilMs: number;
}

export function createLoginThrottle({ clock }: { clock: Pick<Clock, 'monotonic'> }): LoginThrottle {
  const byKey = new Map<string, Failures>();
  let waitingInAll = 0;

  const find = (key: string, nowMs: number): Failures => {
    const known = byKey.get(key);
    return known === undefined || isOver(known, nowMs) ? noFailures() : known;
  };
  /** Only what is counted takes up room: whoever is locked out could otherwise let the locks of others be forgotten. */
  const keep = (key: string, failures: Failures, nowMs: number) => {
    byKey.delete(key);
    byKey.set(key, failures); // moved to the end of the map: the least recently used key is removed first
    if (byKey.size > MAX_KEYS) byKey.delete(leastNeeded(byKey, nowMs));
  };

  const waitFor = ({ waiting }: Failures): Attempt => {
    if (waitingInAll >= MAX_WAITING) return { kind: 'locked', retryAfterMs: RETRY_CROWDED_MS };
    waitingInAll += 1;
    const free = new Promise<void>((resolve) => {
      waiting.push(() => {
        waitingInAll -= 1;
        resolve();
      });
    });
    return { kind: 'crowded', free };
  };

  return {
    begin(kind, address, account) {
      const nowMs = clock.monotonic();
      const { address: mostOfAddress, all } = LIMITS[kind];
      const keyed = (key: string, most: number) => ({ key, failures: find(key, nowMs), most });
      const counted = [keyed(`address:${kind}:${networkOf(address)}`, mostOfAddress)];
      // Codes and tokens are guessed from anywhere; the guesses at a password are counted for its account.
      if (account !== undefined) counted.push(keyed(`account:${account}`, PER_ACCOUNT));
      else if (all !== undefined) counted.push(keyed(`kind:${kind}`, all));
      const waitMs = Math.max(...counted.map(({ failures, most }) => lockOf(failures, most, nowMs)));
      if (waitMs > 0) return { kind: 'locked', retryAfterMs: Math.ceil(waitMs) };
      const crowded = counted.find(({ failures, most }) => isCrowded(failures, most));
      if (crowded !== undefined) return waitFor(crowded.failures);
      for (const { key, failures } of counted) {
        failures.pending += 1;
        keep(key, failures, nowMs);
      }
      return {
        kind: 'counted',
        ended(how) {
          for (const { failures } of counted) {
            failures.pending -= 1;
            if (how === 'failed') failures.atMs.push(clock.monotonic());
            for (const wake of failures.waiting.splice(0)) wake();
          }
        },
      };
    },
  };
}

/** The first key without a lock, else the first one; never the last, which has just been added. */
function leastNeeded(byKey: ReadonlyMap<string, Failures>, nowMs: number): string {
  const [first = ''] = byKey.keys();
  let others = byKey.size - 1;
  for (const [key, { lockedUntilMs }] of byKey) {
    if (others === 0) break;
    if (lockedUntilMs <= nowMs) return key;
    others -= 1;
  }
  return first;
}

const isCrowded = ({ atMs, pending }: Failures, limit: number) => pending > 0 && atMs.length + pending >= limit;

const noFailures = (): Failures => ({
  atMs: [],
  pending: 0,
  waiting: [],
  locks: 0,
  lockedUntilMs: Number.NEGATIVE_INFINITY,
});

/** Whether nothing counts any more: no attempt in progress, no failure in the window, and a long time since the last lock. */
const isOver = ({ atMs, pending, lockedUntilMs }: Failures, nowMs: number) =>
  pending === 0 &&
  (atMs.at(-1) ?? Number.NEGATIVE_INFINITY) <= nowMs - WINDOW_MS &&
  lockedUntilMs + MAX_LOCK_MS <= nowMs;

/** How long the next attempt is refused. Locks the key when it has too many failures. */
function lockOf(failures: Failures, limit: number, nowMs: number): number {
  failures.atMs = failures.atMs.filter((atMs) => atMs > nowMs - WINDOW_MS);
  if (failures.atMs.length >= limit) {
    failures.lockedUntilMs = nowMs + Math.min(MAX_LOCK_MS, WINDOW_MS * 2 ** failures.locks);
    failures.locks += 1;
    failures.atMs = [];
  }
  return Math.max(0, failures.lockedUntilMs - nowMs);
}
