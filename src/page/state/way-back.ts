interface Port {
  history: Pick<History, 'state' | 'pushState' | 'replaceState' | 'go'>;
  /** Closes what was opened last. */
  closeTop(): void;
}

/**
 * Lets the browser's Back close what was opened over the conversation, instead of leaving the page: each such thing has
 * an entry of its own in the history, which tells how many are open. What is closed otherwise takes its entry along.
 */
export class WayBack {
  readonly #port: Port;
  #open = 0;
  /** Entries of what is closed are being left; until then the history tells of before. */
  #isLeaving = false;

  constructor(port: Port) {
    this.#port = port;
    if (this.#told() > 0) port.history.replaceState(null, ''); // by the page before a reload
  }

  /** So many things are open now. */
  follow(open: number): void {
    this.#open = open;
    if (!this.#isLeaving) this.#settle();
  }

  /** The history has moved: by a person, or as it was told to here. */
  onMoved(): void {
    if (this.#isLeaving) {
      this.#isLeaving = false;
      this.#settle(); // something else may have been opened meanwhile
      return;
    }
    for (let tooMany = this.#open - this.#told(); tooMany > 0; tooMany -= 1) this.#port.closeTop();
  }

  #settle(): void {
    const { history } = this.#port;
    for (let entry = this.#told() + 1; entry <= this.#open; entry += 1) history.pushState(entry, '');
    const tooMany = this.#told() - this.#open;
    if (tooMany <= 0) return;
    this.#isLeaving = true;
    history.go(-tooMany);
  }

  #told(): number {
    const state: unknown = this.#port.history.state;
    return typeof state === 'number' ? state : 0;
  }
}
