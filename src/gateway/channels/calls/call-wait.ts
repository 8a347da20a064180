import type { Clock } from '../../../clock.ts';

/** When a call ends without an answer. */
export interface CallLimits {
  signal: AbortSignal;
  /** The whole call; for downloads, the wait for each piece. */
  timeoutMs: number;
}

/** Ends a call by its time limit or its caller's signal. */
export class CallWait implements Disposable {
  readonly #over = new AbortController();
  readonly #limits: CallLimits;
  readonly #clock: Pick<Clock, 'sleep'>;
  #timer = new AbortController();
  #isLate = false;

  constructor(limits: CallLimits, clock: Pick<Clock, 'sleep'>) {
    this.#limits = limits;
    this.#clock = clock;
    if (limits.signal.aborted) this.#cancel();
    limits.signal.addEventListener('abort', this.#cancel, { once: true });
    this.restart();
  }

  get signal(): AbortSignal {
    return this.#over.signal;
  }

  /** The time limit begins again. */
  readonly restart = (): void => {
    this.#timer.abort();
    this.#timer = new AbortController();
    const late = () => {
      this.#isLate = true;
      this.#over.abort(new DOMException('The time limit is over.', 'TimeoutError'));
    };
    this.#clock.sleep(this.#limits.timeoutMs, this.#timer.signal).then(late, () => undefined); // it ended before
  };

  /** Why the call was ended; undefined if it was not. */
  overReason(): string | undefined {
    if (this.#isLate) return `none within ${this.#limits.timeoutMs / 1000} s`;
    return this.#over.signal.aborted ? 'cancelled' : undefined;
  }

  [Symbol.dispose](): void {
    this.#timer.abort();
    this.#limits.signal.removeEventListener('abort', this.#cancel);
  }

  readonly #cancel = (): void => this.#over.abort(new DOMException('The call was cancelled.', 'AbortError'));
}
