import type { Clock } from '../../clock.ts';
import type { Store } from '../store/store.ts';
import { type Head, readHead, readHeads } from './delivery-rows.ts';

/** How long a change of the database that nobody has told of may stay unseen. */
const MAX_NAP_MS = 60_000;

interface HeadsDeps {
  store: Pick<Store, 'db'>;
  clock: Pick<Clock, 'monotonic'>;
  /** Milliseconds until the next attempt. */
  leftMs(head: Head): number;
  /** Whether something is on its way to this destination, or this very message to another one. */
  isBusy(head: Head): 'place' | 'message' | undefined;
}

/**
 * The first waiting message of each destination. All are listed when messages were accepted. After a delivery, only its
 * destination is looked at: thousands may wait while a service is down.
 */
export class WaitingHeads {
  readonly #deps: HeadsDeps;
  /** By destination, the oldest first. */
  #due = new Map<string, Head>();
  #later = new Map<string, Head>();
  /** When one of `#later` may be due, on the steady clock. */
  #nextMs = 0;
  #listedMs = Number.NEGATIVE_INFINITY;
  #isStale = true;
  /** A head was left out because its message is on its way to a former id of the chat. */
  #isLeftOut = false;
  /** How many were listed, and how many of them were taken since. */
  #listed = 0;
  #taken = 0;
  #freed = new Map<string, { head: Head; isOver: boolean }>();

  constructor(deps: HeadsDeps) {
    this.#deps = deps;
  }

  /** Any destination may have another head now. */
  change(): void {
    this.#isStale = true;
  }

  /** A delivery of this head has ended. `isOver`: the message waits no longer; otherwise it may wait for another destination. */
  free(head: Head, isOver: boolean): void {
    this.#freed.set(placeOf(head), { head, isOver });
    this.#isStale ||= this.#isLeftOut;
    this.#isLeftOut = false;
  }

  /** The next heads that are due and not busy, at most so many. Busy ones come again when they are free. */
  async take(most: number): Promise<Head[]> {
    await this.#look(most);
    const taken: Head[] = [];
    for (const [place, head] of this.#due) {
      if (taken.length >= most) break;
      this.#due.delete(place);
      this.#taken += 1;
      const busy = this.#deps.isBusy(head);
      if (busy === 'message') this.#isLeftOut = true;
      if (busy === undefined) taken.push(head);
    }
    return taken;
  }

  /** How long there is nothing more to take; those that are due wait for a free place. */
  napMs(): number {
    if (this.#due.size > 0) return MAX_NAP_MS;
    return this.#isStale ? 0 : Math.max(0, this.#nextMs - this.#deps.clock.monotonic());
  }

  async #look(most: number): Promise<void> {
    const { clock, store } = this.#deps;
    if (clock.monotonic() - this.#listedMs >= MAX_NAP_MS) this.#isStale = true;
    // While many are due, the list is used up first: it costs as much as it has destinations.
    if (this.#isStale && (this.#due.size <= most || this.#taken >= this.#listed)) return this.#list();
    for (const [place, { head, isOver }] of this.#freed) {
      this.#freed.delete(place);
      const next = await readHead(store, head);
      this.#due.delete(place);
      this.#later.delete(place);
      if (next) this.#sort(place, next);
      else if (!isOver) return this.#list(); // its chat has another id now
    }
    if (clock.monotonic() >= this.#nextMs) this.#sortAll(this.#later);
  }

  async #list(): Promise<void> {
    this.#isStale = false;
    this.#freed.clear();
    try {
      const heads = await readHeads(this.#deps.store);
      this.#due.clear();
      this.#sortAll(new Map(heads.map((head) => [placeOf(head), head])));
      [this.#listed, this.#taken, this.#listedMs] = [heads.length, 0, this.#deps.clock.monotonic()];
    } catch (error) {
      this.#isStale = true;
      throw error;
    }
  }

  #sortAll(heads: ReadonlyMap<string, Head>): void {
    this.#later = new Map();
    this.#nextMs = this.#deps.clock.monotonic() + MAX_NAP_MS;
    for (const [place, head] of heads) this.#sort(place, head);
  }

  #sort(place: string, head: Head): void {
    const leftMs = this.#deps.leftMs(head);
    if (leftMs === 0) this.#due.set(place, head);
    else this.#later.set(place, head);
    if (leftMs > 0) this.#nextMs = Math.min(this.#nextMs, this.#deps.clock.monotonic() + leftMs);
  }
}

export const placeOf = ({ provider, destination }: Pick<Head, 'provider' | 'destination'>): string =>
  `${provider} ${destination}`;
