/** The other daemons that are there: where they can be reached, if they say so, by their node ids. */
export type Peers = ReadonlyMap<string, string | undefined>;

type Listener = (before: Peers, now: Peers) => void;

/** The other daemons, as of the last renewal of the lease. */
export interface KnownPeers {
  current(): Peers;
  /** Calls the listener when others are there than before, and returns what ends that. */
  onChange(listener: Listener): () => void;
}

/** Starts with none. */
export function createKnownPeers(): KnownPeers & { replace(now: Peers): void } {
  const listeners = new Set<Listener>();
  let peers: Peers = new Map();
  return {
    current: () => peers,
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    replace(now) {
      const before = peers;
      peers = now;
      if (before.size === now.size && [...now.keys()].every((id) => before.has(id))) return;
      for (const listener of listeners) listener(before, now);
    },
  };
}
