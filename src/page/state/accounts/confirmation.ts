import { type ReadonlySignal, signal } from '@preact/signals';
import { RequestError } from '../../../../protocol/client/request-error.ts';
import type { GatewayClient } from '../../../../protocol/client/ws-client.ts';
import type { ParamsInput } from '../../../../protocol/index.ts';
import { findStepUp, type StepUpDetails } from '../../../../protocol/methods/accounts/step-up.ts';
import { wordsOf } from '../../../../protocol/words-of.ts';
import type { PageClient } from '../reading/reading.ts';
import { toDistance } from '../text/moment.ts';

type By = StepUpDetails['by'];

/** Asks the person to prove who they are when the daemon wants that, and then repeats what they did. */
export class Confirmation {
  readonly #client: Pick<GatewayClient, 'call'>;
  readonly #asked = signal<By | undefined>(undefined);
  /** Of all calls that wait for the same answer; true if the person confirmed. */
  #answered: PromiseWithResolvers<boolean> | undefined;

  constructor(client: Pick<GatewayClient, 'call'>) {
    this.#client = client;
  }

  /** What is asked for; undefined: nothing. */
  get asked(): ReadonlySignal<By | undefined> {
    return this.#asked;
  }

  /** The same client, whose calls wait for the person where the daemon needs it. */
  guarded(client: GatewayClient, isOpen: PageClient['isOpen']): PageClient {
    return {
      isOpen,
      connect: () => client.connect(),
      call: (method, ...args) => this.#repeated(() => client.call(method, ...args)),
      on: (event, listener) => client.on(event, listener),
      subscribe: (wsId, options) => client.subscribe(wsId, options),
      retryNow: () => client.retryNow(),
      close: () => client.close(),
    };
  }

  /** Returns an error message, or undefined on success. */
  async confirm(proof: ParamsInput<'auth.confirm'>): Promise<string | undefined> {
    try {
      await this.#client.call('auth.confirm', proof);
    } catch (error) {
      return toWords(error);
    }
    this.#end(true);
    return undefined;
  }

  /** What waits is not done. */
  cancel(): void {
    this.#end(false);
  }

  async #repeated<T>(act: () => Promise<T>): Promise<T> {
    try {
      return await act();
    } catch (error) {
      const needed = error instanceof RequestError ? findStepUp(error.details) : undefined;
      if (needed === undefined) throw error;
      if (!(await this.#ask(needed.by))) throw new Error(NOT_CONFIRMED);
      return act();
    }
  }

  #ask(by: By): Promise<boolean> {
    this.#answered ??= Promise.withResolvers<boolean>();
    this.#asked.value = by;
    return this.#answered.promise;
  }

  #end(confirmed: boolean): void {
    const answered = this.#answered;
    this.#answered = undefined;
    this.#asked.value = undefined;
    answered?.resolve(confirmed);
  }
}

const NOT_CONFIRMED = 'Nothing was changed, because you did not confirm who you are.';

function toWords(error: unknown): string {
  if (!(error instanceof RequestError) || error.code !== 'RATE_LIMITED') return `${wordsOf(error)}.`.replace('..', '.');
  const wait = toDistance(error.retryAfterMs ?? 300_000, 0, 'en');
  return `Too many attempts. Try again ${wait}. Repeated failures make the wait longer.`;
}
