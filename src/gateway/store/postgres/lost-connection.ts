import type { Clock } from '../../../clock.ts';

/** How exactly the time that is worth waiting is kept. */
const LOOK_MS = 200;

interface LostDeps {
  clock: Clock;
  /** Whether a connection that was lost then may still come back in time for what waits for it. */
  isWorthWaiting(lostMs: number): boolean;
  /** Ends all waiting. */
  signal: AbortSignal;
}

/** What waits for a lost connection. */
export class LostConnection {
  readonly #deps: LostDeps;
  readonly #listeners: ((error: unknown) => void)[] = [];
  #mayWait = true;
  /** Answers what waits; undefined if nothing may wait. */
  #answer: PromiseWithResolvers<boolean> | undefined;

  constructor(deps: LostDeps) {
    this.#deps = deps;
  }

  get isWaited(): boolean {
    return this.#answer !== undefined;
  }

  /** Resolves when the database can be written again; false: that is not worth waiting for any longer. */
  untilBack(isOk: boolean): Promise<boolean> {
    return this.#answer?.promise ?? Promise.resolve(isOk);
  }

  /** Calls the listener when nothing waits any more, although the database is not back. */
  onGivenUp(listener: (error: unknown) => void): void {
    this.#listeners.push(listener);
  }

  begin(error: unknown): void {
    if (!this.#mayWait) this.giveUp(error);
    else {
      this.#answer = Promise.withResolvers();
      void this.#giveUpInTime(error);
    }
  }

  back(): void {
    this.#answer?.resolve(true);
    this.#answer = undefined;
  }

  giveUp(error: unknown): void {
    this.#answer?.resolve(false);
    this.#answer = undefined;
    for (const listener of this.#listeners) listener(error);
  }

  /** From now on, nothing waits. */
  stopWaiting(): void {
    this.#mayWait = false;
    if (this.isWaited) this.giveUp(new Error('the daemon stops'));
  }

  /** An attempt to connect can take longer than it is worth waiting. */
  async #giveUpInTime(error: unknown): Promise<void> {
    const { clock, isWorthWaiting, signal } = this.#deps;
    const [mine, lostMs] = [this.#answer, clock.monotonic()];
    while (this.#answer === mine && isWorthWaiting(lostMs) && !signal.aborted)
      await clock.sleep(LOOK_MS, signal).catch(() => undefined); // closed: the loop ends
    if (this.#answer === mine) this.giveUp(error);
  }
}
