import type { Clock } from '../../../clock.ts';
import { NotConnected, postgresFaultOf } from './postgres-errors.ts';

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
  /** Aborted when nothing waits for the present outage any more. */
  #patience = new AbortController();
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

  /** Aborts when nothing waits any more in the present outage, or in the next one. */
  get patience(): AbortSignal {
    return this.#patience.signal;
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
    if (this.#patience.signal.aborted) this.#patience = new AbortController();
  }

  giveUp(error: unknown): void {
    this.#answer?.resolve(false);
    this.#answer = undefined;
    if (postgresFaultOf(error) === 'lost') this.#patience.abort(error);
    for (const listener of this.#listeners) listener(error);
  }

  /** From now on, nothing waits. */
  stopWaiting(): void {
    this.#mayWait = false;
    if (this.isWaited) this.giveUp(new NotConnected('the daemon stops'));
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
