/** The workstreams that are being unloaded, closed or deleted. Whoever asks for one waits for the end of the work. */
export class Leaving {
  readonly #working = new Map<string, Promise<unknown>>();

  has(wsId: string): boolean {
    return this.#working.has(wsId);
  }

  /** Resolves when the work is over, whether or not it succeeded; undefined if there is none. */
  get(wsId: string): Promise<unknown> | undefined {
    return this.#working.get(wsId);
  }

  /** Holds when neither this nor that work is in progress: in the same turn, because other work could begin in between. */
  async holdAfter<T>(
    wsId: string,
    others: { get(wsId: string): Promise<unknown> | undefined },
    work: () => Promise<T>,
  ): Promise<T> {
    for (;;) {
      const under = [this.get(wsId), others.get(wsId)].filter((each) => each !== undefined);
      if (under.length === 0) return this.hold(wsId, work());
      await Promise.allSettled(under);
    }
  }

  async hold<T>(wsId: string, work: Promise<T>): Promise<T> {
    const over = work.catch(() => undefined); // the caller gets the error
    this.#working.set(wsId, over);
    try {
      return await work;
    } finally {
      if (this.#working.get(wsId) === over) this.#working.delete(wsId);
    }
  }
}
