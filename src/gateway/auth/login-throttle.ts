import { isIPv4 } from 'node:net';
import type { Clock } from '../../clock.ts';

const WINDOW_MS = 5 * 60_000;
const PER_ADDRESS = 5;
/** All addresses together; higher, so that one address alone cannot keep everyone out. */
const PER_KIND = 50;
const MAX_LOCK_MS = 15 * 60_000;
const MAX_KEYS = 10_000;

/** Slows down guessing. Each further lock of a key lasts twice as long; none lasts for ever. */
export interface LoginThrottle {
  /** Counts the attempt as failed before it is made, so that many at once cannot slip through. */
  begin(kind: 'code' | 'token', address: string): Attempt;
}

/** `locked`: not now. `counted`: go ahead, and say so if it was right after all. */
type Attempt = { kind: 'locked'; retryAfterMs: number } | { kind: 'counted'; succeeded(): void };

interface Failures {
  /** When those of the current window happened, oldest first. */
  atMs: number[];
  locks: number;
  lockedUntilMs: number;
}

export function createLoginThrottle({ clock }: { clock: Pick<Clock, 'monotonic'> }): LoginThrottle {
  const byKey = new Map<string, Failures>();

  const failuresOf = (key: string, nowMs: number): Failures => {
    const known = byKey.get(key);
    const failures = known === undefined || isOver(known, nowMs) ? noFailures() : known;
    byKey.delete(key);
    byKey.set(key, failures); // last in the map: the one used longest ago goes first
    const [oldest] = byKey.keys();
    if (byKey.size > MAX_KEYS && oldest !== undefined) byKey.delete(oldest);
    return failures;
  };

  return {
    begin(kind, address) {
      const nowMs = clock.monotonic();
      const all = failuresOf(`kind:${kind}`, nowMs);
      // Wrong tokens of one program do not keep a person with a good link out.
      const own = failuresOf(`address:${kind}:${networkOf(address)}`, nowMs);
      const waitMs = Math.max(lockOf(all, PER_KIND, nowMs), lockOf(own, PER_ADDRESS, nowMs));
      if (waitMs > 0) return { kind: 'locked', retryAfterMs: Math.ceil(waitMs) };
      for (const failures of [all, own]) failures.atMs.push(nowMs);
      return {
        kind: 'counted',
        succeeded() {
          for (const failures of [all, own]) failures.atMs.splice(failures.atMs.indexOf(nowMs) >>> 0, 1);
        },
      };
    },
  };
}

const noFailures = (): Failures => ({ atMs: [], locks: 0, lockedUntilMs: Number.NEGATIVE_INFINITY });

/** Nothing of it counts any more: no failure in the window, and a long time since the last lock. */
const isOver = ({ atMs, lockedUntilMs }: Failures, nowMs: number) =>
  (atMs.at(-1) ?? Number.NEGATIVE_INFINITY) <= nowMs - WINDOW_MS && lockedUntilMs + MAX_LOCK_MS <= nowMs;

/** How long these failures keep the next attempt out; locks them when they have become too many. */
function lockOf(failures: Failures, limit: number, nowMs: number): number {
  failures.atMs = failures.atMs.filter((atMs) => atMs > nowMs - WINDOW_MS);
  if (failures.atMs.length >= limit) {
    failures.lockedUntilMs = nowMs + Math.min(MAX_LOCK_MS, WINDOW_MS * 2 ** failures.locks);
    failures.locks += 1;
    failures.atMs = [];
  }
  return Math.max(0, failures.lockedUntilMs - nowMs);
}

/** What one party can be assumed to hold: an IPv4 address, or the /64 of an IPv6 one. */
function networkOf(address: string): string {
  const v4 = address.replace(/^::ffff:/i, '');
  if (isIPv4(v4)) return v4;
  const [head = '', tail] = address.toLowerCase().split('::');
  const groups = head === '' ? [] : head.split(':');
  const filled = tail === undefined ? groups : [...groups, ...Array<string>(8).fill('0')];
  return filled
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':');
}
