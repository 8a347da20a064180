/** A connection, which ends with its credential. */
export interface CredentialHolder {
  onCredentialEnded(ended: AbortSignal): void;
}

/** Notifies connections that their credential has ended, with one listener per credential for all its connections. */
export interface Revocations {
  /** Calls back once; immediately if it has already ended. */
  watch(ended: AbortSignal, holder: CredentialHolder): void;
  unwatch(ended: AbortSignal, holder: CredentialHolder): void;
}

export function createRevocations(): Revocations {
  const holders = new WeakMap<AbortSignal, Set<CredentialHolder>>();

  function holdersOf(ended: AbortSignal): Set<CredentialHolder> {
    const known = holders.get(ended);
    if (known) return known;
    const created = new Set<CredentialHolder>();
    holders.set(ended, created);
    const tell = () => {
      for (const holder of [...created]) holder.onCredentialEnded(ended);
    };
    ended.addEventListener('abort', tell, { once: true });
    return created;
  }

  return {
    watch(ended, holder) {
      if (ended.aborted) holder.onCredentialEnded(ended);
      else holdersOf(ended).add(holder);
    },
    unwatch: (ended, holder) => void holders.get(ended)?.delete(holder),
  };
}
