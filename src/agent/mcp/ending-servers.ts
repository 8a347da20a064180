/** A server as far as its end goes. */
interface Ending {
  /** Resolves when nothing of it is left. */
  close(): Promise<void>;
  /** The same, when its calls have ended. */
  retire(): Promise<void>;
}

/** Servers that end because of a change. */
export class EndingServers {
  /** Those that wait for their calls. */
  readonly #retiring = new Set<Ending>();
  readonly #ending = new Set<Promise<void>>();

  end(server: Ending): void {
    this.#follow(server.close());
  }

  retire(server: Ending): void {
    this.#retiring.add(server);
    this.#follow(server.retire().finally(() => this.#retiring.delete(server)));
  }

  /** Resolves when none is left; calls are not waited for. */
  async close(): Promise<void> {
    await Promise.all([...this.#retiring].map((server) => server.close()));
    await Promise.all(this.#ending);
  }

  #follow(end: Promise<void>): void {
    const ended = end.finally(() => this.#ending.delete(ended));
    this.#ending.add(ended);
  }
}
