import type { SqliteStore } from '../sqlite-store.ts';
import type { StoredEvent } from '../store.ts';

const LIMITS = [1, 3, 100];

/** What a reader gets after each cursor, in pages of one, of three, and at once. */
export async function everyRest(store: SqliteStore, wsId: string): Promise<StoredEvent[][]> {
  const { last } = store.bounds(wsId);
  const rests: StoredEvent[][] = [];
  for (const limit of LIMITS) {
    for (let after = 0; after <= last; after += 1) rests.push(await store.readEvents(wsId, after, limit));
  }
  return rests;
}

/** What it should get, if these are all events. */
export const everyRestOf = (events: readonly StoredEvent[]): StoredEvent[][] =>
  LIMITS.flatMap((limit) =>
    Array.from({ length: events.length + 1 }, (_, after) => events.slice(after, after + limit)),
  );
