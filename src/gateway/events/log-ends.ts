/** As many ends are remembered; a stream that takes longer to begin goes on like one of a log that did not end. */
const MOST = 1_000;

/** Which logs ended lately. Whoever begins to read a log may follow it only later, when it has ended. */
export class LogEnds {
  #count = 0;
  readonly #last = new Map<string, number>();

  /** How many there were. */
  get count(): number {
    return this.#count;
  }

  add(wsId: string): void {
    this.#count += 1;
    this.#last.delete(wsId);
    this.#last.set(wsId, this.#count);
    const [oldest] = this.#last.keys();
    if (this.#last.size > MOST && oldest !== undefined) this.#last.delete(oldest);
  }

  /** Whether a log has ended after the first `count` ends. */
  hasEnded(wsId: string, count: number): boolean {
    return (this.#last.get(wsId) ?? 0) > count;
  }
}
