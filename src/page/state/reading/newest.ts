/** Tells newer answers from older ones, which may come later: of several reads at once, an older one replaces none that is newer. */
export class Newest {
  #asked = 0;
  #kept = 0;

  /** Called before a read. Returns what to ask once the answer is there: whether it may be kept. */
  ask(): () => boolean {
    this.#asked += 1;
    const asked = this.#asked;
    return () => {
      if (asked < this.#kept) return false;
      this.#kept = asked;
      return true;
    };
  }
}
