/** Runs work with the same key one at a time, in order of arrival; other work runs at once. */
export interface SerialKeys {
  run<T>(key: string | undefined, work: () => T | Promise<T>): Promise<T>;
}

export function createSerialKeys(): SerialKeys {
  const tails = new Map<string, Promise<unknown>>();
  return {
    async run(key, work) {
      if (key === undefined) return work();
      const before = tails.get(key) ?? Promise.resolve();
      const mine = before.then(work, work); // runs even if the work before it failed
      tails.set(key, mine);
      try {
        return await mine;
      } finally {
        if (tails.get(key) === mine) tails.delete(key);
      }
    },
  };
}
