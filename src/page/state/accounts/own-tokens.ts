import { type ReadonlySignal, signal } from '@preact/signals';
import type { ParamsInput } from '../../../../protocol/index.ts';
import type { ApiToken } from '../../../../protocol/methods/accounts/token.ts';
import { type Reader, Reading } from '../reading/reading.ts';
import { attempt } from './refusal.ts';
import { isUser, type Who } from './who.ts';

interface Port {
  client: Reader;
  who(): Who | undefined;
}

/** A token that was just created. */
export interface NewToken {
  name: string;
  token: string;
}

/** The API tokens of the person. */
export class OwnTokens {
  readonly #port: Port;
  readonly reading: Reading;
  readonly #tokens = signal<readonly ApiToken[] | undefined>(undefined);
  readonly #created = signal<NewToken | undefined>(undefined);

  constructor(port: Port) {
    this.#port = port;
    this.reading = new Reading(port.client);
  }

  /** Undefined until the first answer. */
  get tokens(): ReadonlySignal<readonly ApiToken[] | undefined> {
    return this.#tokens;
  }

  /** The created token until the person has stored it, because the daemon cannot show it again. */
  get created(): ReadonlySignal<NewToken | undefined> {
    return this.#created;
  }

  read(): Promise<void> {
    const { client, who } = this.#port;
    return this.reading.read(
      () => client.call('token.list', {}),
      ({ tokens }) => {
        this.#tokens.value = tokens.filter(({ userId }) => userId === ownerOf(who()));
      },
    );
  }

  /** This and `revoke` return an error message, or undefined on success. */
  async create(params: ParamsInput<'token.create'>): Promise<string | undefined> {
    const problem = await attempt(async () => {
      const { name, token } = await this.#port.client.call('token.create', params);
      this.#created.value = { name, token };
    });
    await this.read();
    return problem;
  }

  async revoke(tokenId: string): Promise<string | undefined> {
    const problem = await attempt(() => this.#port.client.call('token.revoke', { tokenId }));
    await this.read();
    return problem;
  }

  /** The person has stored the created token. */
  forget(): void {
    this.#created.value = undefined;
  }
}

/** Whose tokens are one's own: those of the user, or for the operator those of nobody. An administrator gets all. */
const ownerOf = (who: Who | undefined): string | undefined => (isUser(who) ? who?.userId : undefined);
