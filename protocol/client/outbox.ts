/** Sends entries one after another, in the order in which they were added. */
export interface Outbox<Entry> {
  /** Those not accepted yet. The first is being sent. */
  readonly entries: readonly Entry[];
  /** Resolves when nothing is left to send. Never rejects. */
  add(entry: Entry): Promise<void>;
}

interface OutboxDeps<Entry> {
  /** Resolves with false if the entry was not accepted; must not reject. */
  send(entry: Entry): Promise<boolean>;
  onChange(entries: readonly Entry[]): void;
  /** The first entry was not accepted, so the others were not sent. */
  onRefused(entries: readonly Entry[]): void;
}

/** Creates an empty outbox. */
export function createOutbox<Entry>({ send, onChange, onRefused }: OutboxDeps<Entry>): Outbox<Entry> {
  let entries: readonly Entry[] = [];
  let sending: Promise<void> | undefined;
  const set = (next: readonly Entry[]) => {
    entries = next;
    onChange(next);
  };
  const sendAll = async () => {
    for (let [first] = entries; first !== undefined; [first] = entries) {
      if (await send(first)) {
        set(entries.slice(1));
        continue;
      }
      const refused = entries;
      set([]);
      onRefused(refused);
    }
    sending = undefined;
  };
  return {
    get entries() {
      return entries;
    },
    add(entry) {
      set([...entries, entry]);
      sending ??= sendAll();
      return sending;
    },
  };
}
