/** Work that is made once at a time for a key: whoever asks for it meanwhile gets the same. */
export class OnceKeys<T> {
  readonly #running = new Map<string, Promise<T>>();

  /** What is being made; undefined if nothing is. */
  get(key: string): Promise<T> | undefined {
    return this.#running.get(key);
  }

  async run(key: string, make: () => Promise<T>): Promise<T> {
    const running = this.#running.get(key);
    if (running !== undefined) return running;
    const made = make().finally(() => this.#running.delete(key));
    this.#running.set(key, made);
    return made;
  }
}
