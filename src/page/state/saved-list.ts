import { type ReadonlySignal, type Signal, signal } from '@preact/signals';
import type { GatewayClient } from '../../../protocol/client/ws-client.ts';
import type { Result } from '../../../protocol/index.ts';
import { wordsOf } from '../../../protocol/words-of.ts';

export type SavedRow = Result<'workstream.saved'>['workstreams'][number];

interface Listing {
  rows: readonly SavedRow[];
  hasMore: boolean;
}

const PAGE = 50;

/** Stored conversations, page by page, all or those that a search finds. The last search counts. */
export class SavedList {
  readonly #client: Pick<GatewayClient, 'call'>;
  readonly #listing: Signal<Listing | undefined> = signal(undefined);
  readonly #problem: Signal<string | undefined> = signal(undefined);
  #search = '';
  /** Which question an answer belongs to. */
  #asked = 0;
  #isReading = false;

  constructor(client: Pick<GatewayClient, 'call'>) {
    this.#client = client;
  }

  /** Undefined until the first answer. */
  get listing(): ReadonlySignal<Listing | undefined> {
    return this.#listing;
  }

  get problem(): ReadonlySignal<string | undefined> {
    return this.#problem;
  }

  search(text: string): Promise<void> {
    this.#search = text;
    return this.#read([]);
  }

  async more(): Promise<void> {
    const { rows, hasMore } = this.#listing.peek() ?? { rows: [], hasMore: false };
    if (hasMore && !this.#isReading) await this.#read(rows);
  }

  /** Why not, or undefined when it was done. An empty name goes back to the generated one. */
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

  /** Deletes it with everything said in it. Why not, or undefined when it is gone. */
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

  async #read(before: readonly SavedRow[]): Promise<void> {
    const asked = ++this.#asked;
    const last = before.at(-1);
    this.#isReading = true;
    try {
      const { workstreams } = await this.#client.call('workstream.saved', {
        limit: PAGE,
        ...(this.#search.trim() !== '' && { search: this.#search.trim() }),
        ...(last && { before: last.updatedMs, beforeWsId: last.wsId }),
      });
      if (asked !== this.#asked) return;
      // One that was used meanwhile moves to the front of the daemon's list: it is not shown twice.
      const seen = new Set(before.map(({ wsId }) => wsId));
      const rows = [...before, ...workstreams.filter(({ wsId }) => !seen.has(wsId))];
      this.#listing.value = { rows, hasMore: workstreams.length === PAGE };
      this.#problem.value = undefined;
    } catch (error) {
      if (asked === this.#asked) this.#problem.value = wordsOf(error);
    } finally {
      if (asked === this.#asked) this.#isReading = false;
    }
  }

  #replace(row: SavedRow): void {
    const listing = this.#listing.peek();
    if (!listing) return;
    this.#listing.value = { ...listing, rows: listing.rows.map((each) => (each.wsId === row.wsId ? row : each)) };
  }
}

/** What to call it: the name somebody gave, else its title, else the name it was made with. */
export const savedName = ({ alias, title, name }: SavedRow): string => alias ?? title ?? name;
