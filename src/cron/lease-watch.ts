import type { Clock } from '../clock.ts';
import type { OpenOccurrence } from './occurrence.ts';

/** A claim that is not renewed for so long is an orphan. */
export const LEASE_MS = 30_000;
/** How often it is renewed. */
export const RENEW_MS = 10_000;

/**
 * Whose owner is gone. What counts is how long nobody has been seen to renew it, by the steady clock: wall clocks jump,
 * and when the machine sleeps, its owner sleeps too.
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
