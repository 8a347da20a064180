/** Notifies connections that their credential was revoked, with one listener per credential for all its connections. */
export interface Revocations {
  /** Calls back once; immediately if already revoked. Returns a function that stops watching. */
  watch(revoked: AbortSignal, onRevoked: () => void): () => void;
}

export function createRevocations(): Revocations {
  const watchers = new WeakMap<AbortSignal, Set<() => void>>();

  function watchersOf(revoked: AbortSignal): Set<() => void> {
    const known = watchers.get(revoked);
    if (known) return known;
    const created = new Set<() => void>();
    watchers.set(revoked, created);
    const tell = () => {
      for (const onRevoked of [...created]) onRevoked();
    };
    revoked.addEventListener('abort', tell, { once: true });
    return created;
  }

  return {
    watch(revoked, onRevoked) {
      if (revoked.aborted) {
        onRevoked();
        return () => undefined;
      }
      const mine = watchersOf(revoked);
      mine.add(onRevoked);
      return () => void mine.delete(onRevoked);
    },
  };
}
