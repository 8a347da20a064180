import type { LogEntry } from './log-reader.ts';

/** The newest events of one log, kept in memory for all readers that are not far behind. */
export interface Tail {
  push(entries: readonly LogEntry[]): void;
  /** Entries after an offset; undefined when some of them are no longer in memory. */
  after(offset: number): readonly LogEntry[] | undefined;
}

/**
 * Holds at most `maxEntries` events and `maxChars` of their text. Drops the oldest first; readers then use the store.
 */
export function createTail({ maxEntries = 512, maxChars = 256 * 1024 } = {}): Tail {
  let entries: LogEntry[] = [];
  let chars = 0;
  return {
    push(added) {
      for (const entry of added) {
        entries.push(entry);
        chars += entry.json.length;
      }
      let drop = 0;
      // Trimmed in larger steps, so that a full tail does not move its array for each event.
      if (entries.length > maxEntries * 1.25 || chars > maxChars * 1.25) {
        while (drop < entries.length - 1 && (entries.length - drop > maxEntries || chars > maxChars)) {
          chars -= entries[drop]?.json.length ?? 0;
          drop += 1;
        }
        entries = entries.slice(drop);
      }
    },
    after(offset) {
      const first = entries[0];
      if (!first || offset < first.offset - 1) return undefined;
      return entries.slice(offset - first.offset + 1);
    },
  };
}
