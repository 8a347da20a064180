import { type ReadonlySignal, signal } from '@preact/signals';
import type { Memory, QuarantinedMemory } from '../../../../protocol/methods/memory.ts';
import { attempt } from '../accounts/refusal.ts';
import { type Reader, Reading } from '../reading/reading.ts';

interface Listing {
  waiting: readonly QuarantinedMemory[];
  used: readonly Memory[];
  /** There are, or may be, further ones that are not listed. */
  isPart: boolean;
}

/** The most that the daemon lists, and finds by words. */
const MOST = 200;
const MOST_FOUND = 50;

/** The memories that the person sees, and those that wait for a person. Nothing is read until they are shown. */
export class MemoryBoard {
  readonly #client: Reader;
  readonly reading: Reading;
  readonly #listing = signal<Listing | undefined>(undefined);
  #query = '';

  constructor(client: Reader) {
    this.#client = client;
    this.reading = new Reading(client);
  }

  /** Undefined until the first answer. */
  get listing(): ReadonlySignal<Listing | undefined> {
    return this.#listing;
  }

  /** Lists those that contain all words. Without any, the latest ones. */
  search(query: string): Promise<void> {
    this.#query = query.trim();
    return this.read();
  }

  read(): Promise<void> {
    const client = this.#client;
    const query = this.#query;
    const most = query === '' ? MOST : MOST_FOUND;
    const used = () =>
      query === ''
        ? client.call('memory.list', { limit: MOST })
        : client.call('memory.search', { query, limit: MOST_FOUND });
    return this.reading.read(
      () => Promise.all([client.call('memory.quarantine.list', { limit: MOST }), used()]),
      ([waiting, found]) => {
        this.#listing.value = {
          waiting: waiting.memories.filter((memory) => contains(memory, query)),
          used: found.memories,
          isPart: isPart(waiting, MOST) || isPart(found, most),
        };
      },
    );
  }

  /** This and the next methods return an error message, or undefined on success. */
  release(memoryId: string): Promise<string | undefined> {
    return this.#attempt(() => this.#client.call('memory.quarantine.release', { memoryId }));
  }

  discard(memoryId: string): Promise<string | undefined> {
    return this.#attempt(() => this.#client.call('memory.quarantine.discard', { memoryId }));
  }

  remove({ name, scope, scopeId }: Memory): Promise<string | undefined> {
    const place = { scope, ...(scopeId !== '' && { scopeId }) };
    return this.#attempt(() => this.#client.call('memory.delete', { name, ...place }));
  }

  async #attempt(act: () => Promise<unknown>): Promise<string | undefined> {
    const problem = await attempt(act);
    await this.read();
    return problem;
  }
}

const isPart = ({ total, truncated }: { total: number; truncated?: true | undefined }, most: number): boolean =>
  truncated === true || total >= most;

/** As the daemon searches: each word in the name, the description or the content. */
function contains({ name, description, content }: QuarantinedMemory, query: string): boolean {
  const text = `${name} ${description} ${content}`.toLowerCase();
  return query
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}
