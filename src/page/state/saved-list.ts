import { type ReadonlySignal, type Signal, signal } from '@preact/signals';
import type { Result } from '../../../protocol/index.ts';
import { wordsOf } from '../../../protocol/words-of.ts';
import type { Narrowing } from './rail/rail-filters.ts';
import { type Reader, Reading } from './reading/reading.ts';

export type SavedRow = Result<'workstream.saved'>['workstreams'][number];

interface Listing {
  rows: readonly SavedRow[];
  hasMore: boolean;
}

const PAGE = 50;

/** Stored conversations, page by page, optionally those that match a search. Only the last search is shown. */
export class SavedList {
  readonly #client: Reader;
  readonly reading: Reading;
  readonly #listing: Signal<Listing | undefined> = signal(undefined);
  #search = '';
  #narrowing: Narrowing = {};

  constructor(client: Reader) {
    this.#client = client;
    this.reading = new Reading(client);
  }

  /** Undefined until the first answer. */
  get listing(): ReadonlySignal<Listing | undefined> {
    return this.#listing;
  }

  search(text: string, narrowing: Narrowing = {}): Promise<void> {
    this.#search = text;
    this.#narrowing = narrowing;
    return this.#read([]);
  }

  async more(): Promise<void> {
    const { rows, hasMore } = this.#listing.peek() ?? { rows: [], hasMore: false };
    if (hasMore && !this.reading.isReading.peek()) await this.#read(rows);
  }

  /** Returns an error message, or undefined on success. An empty name restores the generated one. */
  async rename(row: SavedRow, name: string): Promise<string | undefined> {
    try {
      const renamed = await this.#client.call('workstream.update', { wsId: row.wsId, name });
      const alias = name === '' ? null : renamed.name;
      this.#replace({ ...row, alias, name: renamed.name });
      return undefined;
    } catch (error) {
      return wordsOf(error);
    }
  }

  /** Deletes a conversation and its messages. Returns an error message, or undefined on success. */
  async remove(row: SavedRow): Promise<string | undefined> {
    try {
      await this.#client.call('sessions.delete', { key: row.wsId, deleteTranscript: true });
      const listing = this.#listing.peek();
      if (listing) this.#listing.value = { ...listing, rows: listing.rows.filter(({ wsId }) => wsId !== row.wsId) };
      return undefined;
    } catch (error) {
      return wordsOf(error);
    }
  }

  #read(before: readonly SavedRow[]): Promise<void> {
    const last = before.at(-1);
    const params = {
      limit: PAGE,
      ...this.#narrowing,
      ...(this.#search.trim() !== '' && { search: this.#search.trim() }),
      ...(last && { before: last.updatedMs, beforeWsId: last.wsId }),
    };
    return this.reading.read(
      () => this.#client.call('workstream.saved', params),
      ({ workstreams }) => {
        // A row used meanwhile has moved to the front of the daemon's list; do not show it twice.
        const seen = new Set(before.map(({ wsId }) => wsId));
        const rows = [...before, ...workstreams.filter(({ wsId }) => !seen.has(wsId))];
        this.#listing.value = { rows, hasMore: workstreams.length === PAGE };
      },
    );
  }

  #replace(row: SavedRow): void {
    const listing = this.#listing.peek();
    if (!listing) return;
    this.#listing.value = { ...listing, rows: listing.rows.map((each) => (each.wsId === row.wsId ? row : each)) };
  }
}

/** The name to show: the name a person gave, else the title, else the generated name. */
export const savedName = ({ alias, title, name }: SavedRow): string => alias ?? title ?? name;
