import { LEASE_MS, RENEW_MS } from './lease-watch.ts';
import type { OpenOccurrence } from './occurrence.ts';

/**
 * How long an attempt has worked that another process began: what that process noted, and what may have come after its
 * last note. So neither a clock that jumps counts, nor the time in which nothing ran; and who dies early and often gains
 * no time.
 */
export function timeSpent({ startedMs, leaseMs, spentMs }: OpenOccurrence, nowMs: number): number {
  if (startedMs === undefined) return 0;
  const notedMs = Math.max(startedMs, leaseMs - LEASE_MS);
  return spentMs + Math.min(RENEW_MS, Math.max(0, nowMs - notedMs));
}
