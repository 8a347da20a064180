import type { Clock } from '../clock.ts';
import type { OpenOccurrence } from './occurrence.ts';

/** A claim that was not renewed for this long is orphaned. */
export const LEASE_MS = 30_000;
/** How often a claim is renewed. */
export const RENEW_MS = 10_000;

/**
 * Decides whether the owner of a claim is gone. It measures on the steady clock how long no renewal was seen, because
 * wall clocks jump, and because the owner sleeps when the machine sleeps.
 */
export class LeaseWatch {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #seen = new Map<string, { epoch: number; leaseMs: number; sinceMs: number }>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  isOver({ jobId, epoch, leaseMs }: OpenOccurrence): boolean {
    const nowMs = this.#clock.monotonic();
    const seen = this.#seen.get(jobId);
    if (seen?.epoch === epoch && seen.leaseMs === leaseMs) return nowMs - seen.sinceMs >= LEASE_MS;
    this.#seen.set(jobId, { epoch, leaseMs, sinceMs: nowMs });
    return false;
  }

  forget(jobId: string): void {
    this.#seen.delete(jobId);
  }
}
