interface Entry {
  id: string;
  atMs: number;
}

/** Finds the id that is due first. Every change costs O(log n), however often an id is set again. */
export class DueHeap {
  /** A binary heap. Replaced entries stay in it until they reach the top. */
  #entries: Entry[] = [];
  readonly #current = new Map<string, Entry>();

  get size(): number {
    return this.#current.size;
  }

  /** Sets or replaces the time of an id; undefined removes it. */
  set(id: string, atMs: number | undefined): void {
    if (this.#current.get(id)?.atMs === atMs) return;
    this.#current.delete(id);
    if (atMs === undefined) return;
    const entry = { id, atMs };
    this.#current.set(id, entry);
    this.#entries.push(entry);
    this.#rise(this.#entries.length - 1);
    if (this.#entries.length > 2 * this.#current.size + 64) this.#rebuild();
  }

  first(): Readonly<Entry> | undefined {
    for (;;) {
      const [top] = this.#entries;
      if (top === undefined || this.#current.get(top.id) === top) return top;
      this.#removeTop();
    }
  }

  #rebuild(): void {
    this.#entries = [...this.#current.values()].sort((a, b) => a.atMs - b.atMs); // a sorted list is a valid heap
  }

  #removeTop(): void {
    const last = this.#entries.pop();
    if (last === undefined || this.#entries.length === 0) return;
    this.#entries[0] = last;
    this.#sink();
  }

  #rise(from: number): void {
    for (let index = from; index > 0; ) {
      const parent = (index - 1) >> 1;
      if (!this.#isBefore(index, parent)) return;
      this.#swap(index, parent);
      index = parent;
    }
  }

  #sink(): void {
    for (let index = 0; ; ) {
      const [left, right] = [2 * index + 1, 2 * index + 2];
      const child = this.#isBefore(right, left) ? right : left;
      if (!this.#isBefore(child, index)) return;
      this.#swap(index, child);
      index = child;
    }
  }

  /** False when there is no entry at `a`. */
  #isBefore(a: number, b: number): boolean {
    const [one, other] = [this.#entries[a], this.#entries[b]];
    return one !== undefined && (other === undefined || one.atMs < other.atMs);
  }

  #swap(a: number, b: number): void {
    const [one, other] = [this.#entries[a], this.#entries[b]];
    if (one === undefined || other === undefined) return;
    this.#entries[a] = other;
    this.#entries[b] = one;
  }
}
