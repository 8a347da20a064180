/** The place of the one run that a workstream can have. Whoever holds it may start a run there. */
export class Place {
  #held: Promise<void> | undefined;

  get isTaken(): boolean {
    return this.#held !== undefined;
  }

  /** Returns a function that frees it. A holder may take it again for a part of its work. */
  take(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#held = promise;
    return () => {
      if (this.#held === promise) this.#held = undefined;
      resolve();
    };
  }

  /** Resolves when it is free. */
  async settled(): Promise<void> {
    while (this.#held !== undefined) await this.#held;
  }
}
