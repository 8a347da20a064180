import { LIMITS } from '../../../protocol/limits.ts';
import { networkOf } from '../auth/client-address.ts';

/** Counts sockets that have not authenticated, so that strangers cannot use up all places. */
export interface Admission {
  /**
   * Undefined when the address, or all addresses together, reached the limit; otherwise a function that frees the
   * place, once.
   */
  enter(address: string): (() => void) | undefined;
}

export function createAdmission({
  perAddress = LIMITS.unauthenticatedSocketsPerAddress as number,
  inAll = LIMITS.unauthenticatedSockets as number,
} = {}): Admission {
  const held = new Map<string, number>();
  let total = 0;
  return {
    enter(address) {
      const network = networkOf(address);
      const count = held.get(network) ?? 0;
      if (total >= inAll || count >= perAddress) return undefined;
      total += 1;
      held.set(network, count + 1);
      let isInside = true;
      return () => {
        if (!isInside) return;
        isInside = false;
        total -= 1;
        const left = (held.get(network) ?? 1) - 1;
        if (left === 0) held.delete(network);
        else held.set(network, left);
      };
    },
  };
}
