import { within } from '../deadline.ts';

/** A list of received items, with waiters for items that match. */
export interface Arrivals<T> {
  readonly all: readonly T[];
  add(item: T): void;
  /** The first matching item, past or future. */
  until(fits: (item: T) => boolean, what?: string): Promise<T>;
}

export function createArrivals<T>(): Arrivals<T> {
  const all: T[] = [];
  const waiting = new Set<(item: T) => void>();
  return {
    all,
    add(item) {
      all.push(item);
      for (const tell of [...waiting]) tell(item);
    },
    async until(fits, what = String(fits)) {
      const here = all.find(fits);
      if (here !== undefined) return here;
      const { promise, resolve } = Promise.withResolvers<T>();
      const tell = (item: T) => {
        if (fits(item)) resolve(item);
      };
      waiting.add(tell);
      try {
        return await within(promise, 60_000, () => `${what}, among ${JSON.stringify(all).slice(-2_000)}`);
      } finally {
        waiting.delete(tell);
      }
    },
  };
}
