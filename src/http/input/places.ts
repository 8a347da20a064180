/** Counts the requests in progress, by caller. */
export interface Places {
  /** Returns what gives the place back; undefined if all are taken. */
  take(caller: string): (() => void) | undefined;
}

export function createPlaces(most: number): Places {
  const taken = new Map<string, number>();
  return {
    take(caller) {
      const count = taken.get(caller) ?? 0;
      if (count >= most) return undefined;
      taken.set(caller, count + 1);
      return () => {
        const left = (taken.get(caller) ?? 1) - 1;
        if (left > 0) taken.set(caller, left);
        else taken.delete(caller);
      };
    },
  };
}
