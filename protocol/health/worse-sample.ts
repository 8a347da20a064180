import type { HealthSample } from '../methods/health.ts';

const CIRCUITS: readonly HealthSample['circuit'][] = ['closed', 'half_open', 'open'];

/** The worst of two samples as one, which begins with the first. */
export function worseOf(one: HealthSample, other: HealthSample): HealthSample {
  const storeMs = Math.max(one.storeMs ?? -1, other.storeMs ?? -1);
  return {
    atMs: one.atMs,
    lagMs: Math.max(one.lagMs, other.lagMs),
    busy: Math.max(one.busy, other.busy),
    circuit: CIRCUITS[Math.max(CIRCUITS.indexOf(one.circuit), CIRCUITS.indexOf(other.circuit))] ?? 'open',
    store: one.store === 'degraded' ? one.store : other.store,
    ...(storeMs >= 0 && { storeMs }),
  };
}
