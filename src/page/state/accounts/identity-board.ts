import { type ReadonlySignal, signal } from '@preact/signals';
import type { OidcIdentity } from '../../../../protocol/methods/accounts/oidc-identity.ts';
import { type Reader, Reading } from '../reading/reading.ts';
import { attempt } from './refusal.ts';

/** Who at a provider logs in as the user whose form is open. */
export class IdentityBoard {
  readonly #client: Reader;
  readonly reading: Reading;
  readonly #identities = signal<readonly OidcIdentity[]>([]);

  constructor(client: Reader) {
    this.#client = client;
    this.reading = new Reading(client);
  }

  /** Empty until the answer. */
  get identities(): ReadonlySignal<readonly OidcIdentity[]> {
    return this.#identities;
  }

  read(userId: string): Promise<void> {
    this.#identities.value = []; // they were of another user
    this.reading.forget();
    return this.reading.read(
      () => this.#client.call('oidc.identity.list', { userId }),
      ({ identities }) => {
        this.#identities.value = identities;
      },
    );
  }

  /** Lets a person of the provider log in as the user. An empty issuer is that of the configured provider. */
  async link({ userId, ...typed }: { userId: string; issuer: string; subject: string }): Promise<string | undefined> {
    const issuer = typed.issuer.trim();
    const subject = typed.subject.trim();
    if (subject === '') return 'Enter the subject: the name or number by which the provider knows the person.';
    const wrong = issuer === '' ? undefined : problemOfIssuer(issuer);
    if (wrong !== undefined) return wrong;
    const problem = await attempt(() =>
      this.#client.call('oidc.identity.add', { userId, subject, ...(issuer !== '' && { issuer }) }),
    );
    if (problem === undefined) await this.read(userId);
    return problem;
  }

  /** Ends all logins of the user, too. Returns an error message, or undefined on success. */
  async unlink({ issuer, subject, userId }: OidcIdentity): Promise<string | undefined> {
    const problem = await attempt(() => this.#client.call('oidc.identity.remove', { issuer, subject }));
    if (problem === undefined) await this.read(userId);
    return problem;
  }
}

/** What is wrong with an issuer, which is an address without query and fragment, encrypted unless it is on this machine. */
function problemOfIssuer(issuer: string): string | undefined {
  const url = URL.canParse(issuer) ? new URL(issuer) : undefined;
  const isLocal = url?.protocol === 'http:' && ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname);
  if (url === undefined || (url.protocol !== 'https:' && !isLocal))
    return 'The issuer is not an https address. Copy it from the provider; it looks like https://sso.example.com.';
  if (url.search !== '' || url.hash !== '' || url.username !== '')
    return 'The issuer has more than an address: remove what follows “?” or “#”, and a name before “@”.';
  return undefined;
}
