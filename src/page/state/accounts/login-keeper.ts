/** How long a login may last before a person who works gets a new one: half of its 24 hours. */
const RENEW_BELOW_MS = 12 * 60 * 60_000;
/** How often a person who works makes the page ask. */
const ASK_EVERY_MS = 10 * 60_000;

interface LoginKeeperDeps {
  /** Whether somebody is logged in and looks at the page. */
  isNeeded(): boolean;
  /** Milliseconds that the login of the browser lasts, by the daemon’s clock; undefined for one that cannot be renewed. */
  leftMs(): Promise<number | undefined>;
  /** Gets a new login. */
  refresh(): Promise<void>;
  now(): number;
}

/**
 * Renews the login of a person who works. It asks the daemon each time, because another tab may have renewed it, and the
 * clock of the page stands still while the machine sleeps.
 */
export class LoginKeeper {
  readonly #deps: LoginKeeperDeps;
  #askedMs = Number.NEGATIVE_INFINITY;
  #isBusy = false;

  constructor(deps: LoginKeeperDeps) {
    this.#deps = deps;
  }

  /** The person has done something. */
  onActivity(): void {
    if (this.#deps.now() - this.#askedMs >= ASK_EVERY_MS) void this.onReturn();
  }

  /** The person has come back, or the machine has woken up: time may have passed that the page did not see. */
  async onReturn(): Promise<void> {
    if (this.#isBusy || !this.#deps.isNeeded()) return;
    this.#isBusy = true;
    this.#askedMs = this.#deps.now();
    try {
      const leftMs = await this.#deps.leftMs();
      if (leftMs !== undefined && leftMs > 0 && leftMs < RENEW_BELOW_MS) await this.#deps.refresh();
    } catch {
      // No answer, or the login has ended: the next activity asks again, and the connection reports the end.
    } finally {
      this.#isBusy = false;
    }
  }
}
