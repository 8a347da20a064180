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
