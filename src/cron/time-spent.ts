import { LEASE_MS, RENEW_MS } from './lease-watch.ts';
import type { OpenOccurrence } from './occurrence.ts';

/**
 * The working time of an attempt that another process began: the stored time, plus the time that may have passed after
 * it was stored. Clock jumps and downtime do not count, and a process that often dies early gains no time.
 */
export function timeSpent({ startedMs, leaseMs, spentMs }: OpenOccurrence, nowMs: number): number {
  if (startedMs === undefined) return 0;
  const notedMs = Math.max(startedMs, leaseMs - LEASE_MS);
  return spentMs + Math.min(RENEW_MS, Math.max(0, nowMs - notedMs));
}
