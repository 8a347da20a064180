import type { SharedStore } from '../store/daemon-store.ts';
import { unavailable } from '../store/store-fault.ts';

/** Throws UNAVAILABLE while another machine may be active, because what this one knows may be out of date then. */
export type RequireLease = (method?: string) => void;

/** They tell about this machine, and must do so also then. */
const OF_THIS_MACHINE: ReadonlySet<string> = new Set(['health', 'cluster.status', 'logs.tail']);

/** A daemon that was paused learns only from its next renewal that it was replaced, and clients may ask sooner. */
export function requireLeaseOf(shared: Pick<SharedStore, 'mayBeReplaced'> | undefined): RequireLease {
  if (shared === undefined) return () => undefined;
  return (method = '') => {
    if (shared.mayBeReplaced() && !OF_THIS_MACHINE.has(method))
      throw unavailable(
        'This daemon did not renew its lease in time, so another one may be active. Ask again in a second.',
      );
  };
}
