import { LIMITS } from '../../../protocol/limits.ts';

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
      const count = held.get(address) ?? 0;
      if (total >= inAll || count >= perAddress) return undefined;
      total += 1;
      held.set(address, count + 1);
      let isInside = true;
      return () => {
        if (!isInside) return;
        isInside = false;
        total -= 1;
        const left = (held.get(address) ?? 1) - 1;
        if (left === 0) held.delete(address);
        else held.set(address, left);
      };
    },
  };
}
