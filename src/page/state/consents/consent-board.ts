import { type ReadonlySignal, signal } from '@preact/signals';
import type { Result } from '../../../../protocol/index.ts';
import { attempt } from '../accounts/refusal.ts';
import { type Reader, Reading } from '../reading/reading.ts';

type Consent = Result<'mcp.consent.list'>['consents'][number];
type Pending = Result<'mcp.consent.pending'>['pending'][number];

/** A tool server that people use with accounts of their own. */
export interface AccountServer {
  name: string;
  /** Where the person begins to consent; undefined: the server is not used with accounts any more. */
  url: string | undefined;
  /** The account of the person. */
  consent: Consent | undefined;
  /** A call of the person needed an account, or further rights. */
  pending: Pending | undefined;
}

/** The person’s accounts at tool servers. Nothing is read until they are shown. */
export class ConsentBoard {
  readonly #client: Reader;
  readonly reading: Reading;
  readonly #servers = signal<readonly AccountServer[] | undefined>(undefined);

  constructor(client: Reader) {
    this.#client = client;
    this.reading = new Reading(client);
  }

  /** In the order of their names. Undefined until the first answer. */
  get servers(): ReadonlySignal<readonly AccountServer[] | undefined> {
    return this.#servers;
  }

  read(): Promise<void> {
    return this.reading.read(
      () => Promise.all([this.#client.call('mcp.consent.list', {}), this.#client.call('mcp.consent.pending', {})]),
      ([listed, { pending }]) => {
        this.#servers.value = toServers(listed, pending);
      },
    );
  }

  /** Disconnects the person’s account. This and the next methods return an error message, or undefined on success. */
  disconnect(server: string): Promise<string | undefined> {
    return this.#attempt(() => this.#client.call('mcp.consent.remove', { server }));
  }

  /** Forgets that calls needed an account. */
  dismiss(server: string): Promise<string | undefined> {
    return this.#attempt(() => this.#client.call('mcp.consent.dismiss', { server }));
  }

  /** Disconnects the accounts of all people. */
  disconnectAll(server: string): Promise<string | undefined> {
    return this.#attempt(() => this.#client.call('mcp.consent.revoke', { server }));
  }

  async #attempt(act: () => Promise<unknown>): Promise<string | undefined> {
    const problem = await attempt(act);
    await this.read();
    return problem;
  }
}

function toServers({ consents, servers }: Result<'mcp.consent.list'>, pending: readonly Pending[]): AccountServer[] {
  const names = new Set([...servers, ...consents, ...pending].map(({ server }) => server));
  return [...names].sort().map((name) => ({
    name,
    url: servers.find(({ server }) => server === name)?.url,
    consent: consents.find(({ server }) => server === name),
    pending: pending.find(({ server }) => server === name),
  }));
}
