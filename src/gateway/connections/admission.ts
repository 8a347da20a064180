import { LIMITS } from '../../../protocol/limits.ts';

/** Counts sockets that have not said who they are, so that strangers cannot use up the daemon's. */
export interface Admission {
  /** Undefined when the address, or everyone together, holds enough; otherwise gives the place back, once. */
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
