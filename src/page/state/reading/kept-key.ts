import { RequestError } from '../../../../protocol/client/request-error.ts';
import { repeatAfterLoss } from './repeat-after-loss.ts';

/**
 * Gives a call the same idempotency key until the daemon has answered, however often a person repeats it. With other params, it
 * is another call.
 */
export class KeptKey {
  readonly #newKey: () => string;
  #open: { params: string; key: string } | undefined;

  constructor(newKey: () => string) {
    this.#newKey = newKey;
  }

  /** Repeats the call once if the connection is lost. Throws what it throws. */
  async ask<P, T>(params: P, call: (params: P & { idempotencyKey: string }) => Promise<T>): Promise<T> {
    const text = JSON.stringify(params);
    const key = this.#open?.params === text ? this.#open.key : this.#newKey();
    this.#open = { params: text, key };
    try {
      const answer = await repeatAfterLoss(() => call({ ...params, idempotencyKey: key }));
      this.#open = undefined;
      return answer;
    } catch (error) {
      // A refusal is stored with its key, so the next attempt needs another one.
      if (error instanceof RequestError && !error.retryable) this.#open = undefined;
      throw error;
    }
  }
}
