interface Port {
  history: Pick<History, 'state' | 'pushState' | 'replaceState' | 'go'>;
  /** Closes the overlay or panel opened last. */
  closeTop(): void;
}

/**
 * Lets the browser's Back button close overlays and panels instead of leaving the page. Each one has an entry in the
 * history, which stores how many are open. One that is closed in another way removes its entry.
 */
export class WayBack {
  readonly #port: Port;
  #open = 0;
  /** Entries of closed overlays are being removed; until then the history is out of date. */
  #isLeaving = false;

  constructor(port: Port) {
    this.#port = port;
    if (this.#told() > 0) port.history.replaceState(null, ''); // an entry from before a reload
  }

  /** Adjusts the history to the number of open overlays and panels. */
  follow(open: number): void {
    this.#open = open;
    if (!this.#isLeaving) this.#settle();
  }

  /** Called when the history has moved, by a person or by this class. */
  onMoved(): void {
    if (this.#isLeaving) {
      this.#isLeaving = false;
      this.#settle(); // another overlay may have been opened meanwhile
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
