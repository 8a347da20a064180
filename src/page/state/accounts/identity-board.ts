import { type ReadonlySignal, signal } from '@preact/signals';
import type { GatewayClient } from '../../../../protocol/client/ws-client.ts';
import type { OidcIdentity } from '../../../../protocol/methods/accounts/oidc-identity.ts';
import { attempt, refusalOf } from './refusal.ts';

/** Who at a provider logs in as the user whose form is open. */
export class IdentityBoard {
  readonly #client: Pick<GatewayClient, 'call'>;
  readonly #identities = signal<readonly OidcIdentity[]>([]);
  readonly #problem = signal<string | undefined>(undefined);
  /** Number of the latest request; answers to earlier requests are ignored. */
  #reads = 0;

  constructor(client: Pick<GatewayClient, 'call'>) {
    this.#client = client;
  }

  /** Empty until the answer. */
  get identities(): ReadonlySignal<readonly OidcIdentity[]> {
    return this.#identities;
  }

  /** Why they could not be read. */
  get problem(): ReadonlySignal<string | undefined> {
    return this.#problem;
  }

  async read(userId: string): Promise<void> {
    this.#reads += 1;
    const read = this.#reads;
    this.#identities.value = []; // they were of another user
    this.#problem.value = undefined;
    try {
      const { identities } = await this.#client.call('oidc.identity.list', { userId });
      if (read === this.#reads) this.#identities.value = identities;
    } catch (error) {
      if (read === this.#reads) this.#problem.value = refusalOf(error);
    }
  }

  /** Ends all logins of the user, too. Returns an error message, or undefined on success. */
  async unlink({ issuer, subject, userId }: OidcIdentity): Promise<string | undefined> {
    const problem = await attempt(() => this.#client.call('oidc.identity.remove', { issuer, subject }));
    if (problem === undefined) await this.read(userId);
    return problem;
  }
}
