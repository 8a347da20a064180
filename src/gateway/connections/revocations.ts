/** Notifies connections that their credential has ended, with one listener per credential for all its connections. */
export interface Revocations {
  /** Calls back once; immediately if it has already ended. Returns a function that stops watching. */
  watch(ended: AbortSignal, onEnded: () => void): () => void;
}

export function createRevocations(): Revocations {
  const watchers = new WeakMap<AbortSignal, Set<() => void>>();

  function watchersOf(ended: AbortSignal): Set<() => void> {
    const known = watchers.get(ended);
    if (known) return known;
    const created = new Set<() => void>();
    watchers.set(ended, created);
    const tell = () => {
      for (const onEnded of [...created]) onEnded();
    };
    ended.addEventListener('abort', tell, { once: true });
    return created;
  }

  return {
    watch(ended, onEnded) {
      if (ended.aborted) {
        onEnded();
        return () => undefined;
      }
      const mine = watchersOf(ended);
      mine.add(onEnded);
      return () => void mine.delete(onEnded);
    },
  };
}
