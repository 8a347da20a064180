import type { Clock } from '../../../clock.ts';

/** When a call ends without an answer. */
export interface CallLimits {
  signal: AbortSignal;
  /** The whole call; for downloads, the wait for each piece. They may take a quarter of an hour in all. */
  timeoutMs: number;
}

/** However steadily a file arrives: whoever sends it a byte at a time would hold up all that waits behind it. */
const MOST_MS = 15 * 60_000;

/** Ends a call by its time limits or its caller's signal. */
export class CallWait implements Disposable {
  readonly #over = new AbortController();
  readonly #limits: CallLimits;
  readonly #clock: Pick<Clock, 'sleep'>;
  readonly #ended = new AbortController();
  #timer = new AbortController();
  /** The time limit that is over, in milliseconds. */
  #lateMs: number | undefined;

  constructor(limits: CallLimits, clock: Pick<Clock, 'sleep'>) {
    this.#limits = limits;
    this.#clock = clock;
    if (limits.signal.aborted) this.#cancel();
    limits.signal.addEventListener('abort', this.#cancel, { once: true });
    this.restart();
    this.#endAfter(MOST_MS, this.#ended.signal);
  }

  get signal(): AbortSignal {
    return this.#over.signal;
  }

  /** The time limit begins again. */
  readonly restart = (): void => {
    this.#timer.abort();
    this.#timer = new AbortController();
    this.#endAfter(this.#limits.timeoutMs, this.#timer.signal);
  };

  /** Why the call was ended; undefined if it was not. */
  overReason(): string | undefined {
    if (this.#lateMs === MOST_MS) return `not complete within ${MOST_MS / 60_000} minutes`;
    if (this.#lateMs !== undefined) return `none within ${this.#lateMs / 1000} s`;
    return this.#over.signal.aborted ? 'cancelled' : undefined;
  }

  [Symbol.dispose](): void {
    this.#timer.abort();
    this.#ended.abort();
    this.#limits.signal.removeEventListener('abort', this.#cancel);
  }

  #endAfter(ms: number, signal: AbortSignal): void {
    const late = () => {
      this.#lateMs = ms;
      this.#over.abort(new DOMException('The time limit is over.', 'TimeoutError'));
    };
    this.#clock.sleep(ms, signal).then(late, () => undefined); // it ended before
  }

  readonly #cancel = (): void => this.#over.abort(new DOMException('The call was cancelled.', 'AbortError'));
}
