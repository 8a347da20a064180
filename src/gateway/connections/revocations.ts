/** Tells connections that their credential was revoked. One listener per credential, however many connections hold it. */
export interface Revocations {
  /** Calls back once, at once if it has happened already; the answer lets go. */
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
