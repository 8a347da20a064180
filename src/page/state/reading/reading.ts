import { computed, type ReadonlySignal, signal } from '@preact/signals';
import { ConnectionLostError } from '../../../../protocol/client/request-error.ts';
import type { GatewayClient } from '../../../../protocol/client/ws-client.ts';
import { refusalOf } from '../accounts/refusal.ts';

/** The page’s client. */
export interface PageClient extends GatewayClient {
  /** Whether it is connected now. */
  readonly isOpen: ReadonlySignal<boolean>;
}

/** What views read with. */
export type Reader = Pick<PageClient, 'call' | 'isOpen'>;

/**
 * Reads for a view. Only the answer to the latest read counts. A read that fails for lack of a connection is repeated when
 * the connection is back; any other failure is the `problem` until a later read succeeds.
 */
export class Reading {
  readonly #isOpen: ReadonlySignal<boolean>;
  readonly #problem = signal<string | undefined>(undefined);
  readonly #isReading = signal(false);
  readonly #isLost = signal(false);
  #reads = 0;
  #repeat = (): Promise<void> => Promise.resolve();
  #stopWaiting = (): void => undefined;

  constructor({ isOpen }: Pick<Reader, 'isOpen'>) {
    this.#isOpen = isOpen;
  }

  /** Why the last read failed, if not for lack of a connection. */
  get problem(): ReadonlySignal<string | undefined> {
    return this.#problem;
  }

  get isReading(): ReadonlySignal<boolean> {
    return this.#isReading;
  }

  /** The answer comes only after the page has connected again. */
  readonly isWaiting = computed(() => this.#isLost.value || (this.#isReading.value && !this.#isOpen.value));

  /** Never throws. Ends with the answer, with a failure, or when the connection is lost. */
  read<T>(ask: () => Promise<T>, keep: (answer: T) => void): Promise<void> {
    this.#repeat = () => this.#run(ask, keep);
    return this.#repeat();
  }

  /** Repeats the last read. */
  again(): Promise<void> {
    this.#problem.value = undefined; // a screen reader then announces the next problem even if it is the same
    return this.#repeat();
  }

  /** Ignores the answer that may still come, and the problem: they were about something else. */
  forget(): void {
    this.#reads += 1;
    this.#repeat = () => Promise.resolve();
    this.#end();
    this.#problem.value = undefined;
  }

  async #run<T>(ask: () => Promise<T>, keep: (answer: T) => void): Promise<void> {
    this.#reads += 1;
    const read = this.#reads;
    this.#end();
    this.#isReading.value = true;
    try {
      const answer = await ask();
      if (read !== this.#reads) return;
      this.#end();
      this.#problem.value = undefined;
      keep(answer);
    } catch (error) {
      if (read !== this.#reads) return;
      this.#end();
      // While disconnected, a call may also have timed out before it was sent.
      if (error instanceof ConnectionLostError || !this.#isOpen.peek()) this.#waitForConnection();
      else this.#problem.value = refusalOf(error);
    }
  }

  #end(): void {
    this.#stopWaiting();
    this.#isReading.value = false;
    this.#isLost.value = false;
  }

  #waitForConnection(): void {
    this.#problem.value = undefined;
    this.#isLost.value = true;
    const read = this.#reads;
    this.#stopWaiting = this.#isOpen.subscribe((isOpen) => {
      // The first call comes before `subscribe` returns, so the read begins after this.
      if (isOpen) queueMicrotask(() => read === this.#reads && this.#isLost.peek() && void this.#repeat());
    });
  }
}
