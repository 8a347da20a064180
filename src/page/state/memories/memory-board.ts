import { type ReadonlySignal, signal } from '@preact/signals';
import type { Memory, QuarantinedMemory } from '../../../../protocol/methods/memory.ts';
import { attempt } from '../accounts/refusal.ts';
import { type Reader, Reading } from '../reading/reading.ts';

interface Listing {
  waiting: readonly QuarantinedMemory[];
  used: readonly Memory[];
}

/** The memories that the person sees, and those that wait for a person. Nothing is read until they are shown. */
export class MemoryBoard {
  readonly #client: Reader;
  readonly reading: Reading;
  readonly #listing = signal<Listing | undefined>(undefined);

  constructor(client: Reader) {
    this.#client = client;
    this.reading = new Reading(client);
  }

  /** Undefined until the first answer. */
  get listing(): ReadonlySignal<Listing | undefined> {
    return this.#listing;
  }

  read(): Promise<void> {
    const client = this.#client;
    return this.reading.read(
      () => Promise.all([client.call('memory.quarantine.list', {}), client.call('memory.list', {})]),
      ([{ memories: waiting }, { memories: used }]) => {
        this.#listing.value = { waiting, used };
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
