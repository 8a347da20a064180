interface Place<T> {
  member: T;
  before: Place<T> | undefined;
  after: Place<T> | undefined;
}

/**
 * Members that come and go all the time, in the order in which they came. In a `Set`, each one that leaves may stay in memory
 * for a while, with everything it holds: the table of a `Set` points to the larger or smaller one that replaced it, and V8
 * keeps what an old table points to until it collects the old objects, too. Here, who has left points to nobody.
 */
export class Roster<T> implements Iterable<T> {
  #first: Place<T> | undefined;
  #last: Place<T> | undefined;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Returns a function that removes the member again. */
  add(member: T): () => void {
    const place: Place<T> = { member, before: this.#last, after: undefined };
    if (this.#last) this.#last.after = place;
    else this.#first = place;
    this.#last = place;
    this.#size += 1;
    let isIn = true;
    return () => {
      if (isIn) this.#remove(place);
      isIn = false;
    };
  }

  #remove(place: Place<T>): void {
    const { before, after } = place;
    if (before) before.after = after;
    else this.#first = after;
    if (after) after.before = before;
    else this.#last = before;
    place.before = undefined;
    place.after = undefined;
    this.#size -= 1;
  }

  /** Those who are members now; some may leave meanwhile. */
  [Symbol.iterator](): Iterator<T> {
    const members: T[] = [];
    for (let place = this.#first; place; place = place.after) members.push(place.member);
    return members.values();
  }
}
