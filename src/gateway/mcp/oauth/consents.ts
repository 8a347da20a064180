import { GatewayError } from '../../../../protocol/errors.ts';
import type { Accounts } from '../../../agent/mcp/accounts/accounts.ts';
import { placeIn } from '../../secrets/sealed-rows.ts';
import type { ConsentTable } from '../../store/schema/consents/consent-schema.ts';
import type { Statement } from '../../store/store.ts';
import { actingUserIn } from './acting-user.ts';
import { askProvider, type ConsentDeps, findOAuthServer, whyFailed } from './consent-deps.ts';
import { type ConsentAnswer, createConsentFlow } from './consent-flow.ts';
import {
  consentIdOf,
  deleteAll,
  deleteClient,
  deletePending,
  findConsent,
  listConsents,
  listPending,
  usersWithConsents,
  type Whose,
} from './consent-rows.ts';
import { presentClient } from './oauth-client.ts';
import { revoke } from './oauth-protocol.ts';
import { readSealed, StoredConsent } from './sealed-texts.ts';
import { startUrlOf, TokenKeeper } from './token-keeper.ts';

interface PendingConsent {
  server: string;
  code: string;
  scopes: string[];
  url: string;
  sinceMs: number;
}

type Listener = Parameters<Accounts['onChanged']>[0];

/** The accounts of people at tool servers (decision 114): how they are connected, used, renewed and revoked. */
export class Consents implements Accounts {
  readonly #deps: ConsentDeps;
  readonly #listeners = new Set<Listener>();
  readonly #waiting = new Set<() => void>();
  readonly #keeper: TokenKeeper;
  readonly #flow: ReturnType<typeof createConsentFlow>;
  /** Revocations under way at providers. */
  readonly #revoking = new Set<Promise<void>>();
  readonly #closing = new AbortController();

  constructor(deps: ConsentDeps) {
    this.#deps = deps;
    const { users, log } = deps;
    this.#keeper = new TokenKeeper(deps, {
      waiting: () => this.#wake(),
      orphaned: (server, stored) => this.#track(this.#revoke(server, stored)),
    });
    this.#flow = createConsentFlow(deps);
    users.onChanged((user) => {
      if (users.boundsOf(user) !== undefined) return;
      this.#removeOf({ user }, []).catch((error) => log.error({ err: error, user }, 'accounts could not be revoked'));
    });
  }

  /** Removes what belongs to users who are gone or disabled: a process may have died before it did. */
  async recover(): Promise<void> {
    const { store, users } = this.#deps;
    for (const user of await usersWithConsents(store))
      if (users.boundsOf(user) === undefined) await this.#removeOf({ user }, []);
  }

  /** Resolves when no provider is asked any more. */
  async close(): Promise<void> {
    this.#closing.abort(new Error('the daemon stops'));
    await Promise.all(this.#revoking);
  }

  onChanged(listener: Listener): void {
    this.#listeners.add(listener);
  }

  /** Called when somebody may have begun or ended to wait for an account. */
  onWaiting(listener: () => void): void {
    this.#waiting.add(listener);
  }

  userIn(wsId: string) {
    return actingUserIn(this.#deps, wsId);
  }

  nameOf(user: string): string {
    return user === '' ? 'the operator' : (this.#deps.users.find(user)?.username ?? user);
  }

  missing(...about: Parameters<Accounts['missing']>) {
    return this.#keeper.missing(...about);
  }

  token(...about: Parameters<Accounts['token']>) {
    return this.#keeper.token(...about);
  }

  renew(...about: Parameters<Accounts['renew']>) {
    return this.#keeper.renew(...about);
  }

  needs(...about: Parameters<Accounts['needs']>) {
    return this.#keeper.needs(...about);
  }

  begin(user: string, asked: { server: string; scopes: readonly string[] }) {
    return this.#flow.begin(user, asked);
  }

  async finish(answer: ConsentAnswer, also: Parameters<ReturnType<typeof createConsentFlow>['finish']>[1]) {
    const done = await this.#flow.finish(answer, also);
    this.#announce({ server: done.server, user: done.user, isConnected: true });
    this.#wake();
    return done;
  }

  /** The accounts of a user. */
  async list(user: string) {
    const rows = await listConsents(this.#deps.store, { user });
    return rows.map(({ server, scopes, created_ms, expires_ms }) => ({
      server,
      scopes: scopes === '' ? [] : scopes.split(' '),
      connectedAtMs: created_ms,
      expiresAtMs: expires_ms,
    }));
  }

  /** False: there was none. */
  async remove(user: string, server: string, also: readonly Statement[]): Promise<boolean> {
    const row = await findConsent(this.#deps.store, consentIdOf(server, user));
    if (!row) return false;
    await this.#removeOf({ user, server }, also);
    return true;
  }

  /** What calls waited for in vain. Undefined: there is no server that is used with accounts. */
  async pending(user: string): Promise<PendingConsent[] | undefined> {
    const urls = new Map(this.servers().map(({ server, url }) => [server, url]));
    if (urls.size === 0) return undefined;
    const rows = await listPending(this.#deps.store, user);
    return rows.flatMap(({ server, code, scopes, created_ms }) => {
      const url = urls.get(server);
      if (url === undefined) return []; // it is gone or disabled
      return [{ server, code, scopes: scopes === '' ? [] : scopes.split(' '), url, sinceMs: created_ms }];
    });
  }

  /** Without a server, all of the user. */
  async dismiss(user: string, server?: string): Promise<void> {
    await this.#deps.store.commit({ statements: [deletePending(user, server)] });
    this.#wake();
  }

  /** The servers that are used with accounts, and where a person begins to connect one. */
  servers(): { server: string; url: string }[] {
    const names = Object.keys(this.#deps.live.mcp.servers).filter((name) => findOAuthServer(this.#deps, name));
    return names
      .toSorted((a, b) => (a < b ? -1 : 1))
      .map((server) => ({ server, url: startUrlOf(this.#deps.baseUrl(), server) }));
  }

  /** Removes the accounts of all users of a server, which may be disabled. Throws NOT_FOUND or INVALID_REQUEST. */
  async revokeAll(server: string, also: (removed: { accounts: number }) => readonly Statement[]) {
    const { servers } = this.#deps.live.mcp;
    if (!Object.hasOwn(servers, server)) throw new GatewayError('NOT_FOUND', 'No such server');
    if (!servers[server]?.oauth)
      throw new GatewayError('INVALID_REQUEST', 'bulk-revoke is only valid for auth_type=oauth_user servers');
    const before = await listConsents(this.#deps.store, { server });
    await this.#removeOf({ server }, [deleteClient(server), ...also({ accounts: before.length })]);
    return { rowsDeleted: before.length, usersBefore: new Set(before.map(({ user_id }) => user_id)).size };
  }

  /**
   * A server is about to be removed, or reached elsewhere: what belongs to it in the same unit, and what is to be done when that
   * is stored.
   */
  async ending(server: string): Promise<{ statements: Statement[]; ended(): void }> {
    const rows = await listConsents(this.#deps.store, { server });
    return {
      statements: [...deleteAll({ server }), deleteClient(server)],
      ended: () => this.#revokeAll(rows),
    };
  }

  /** First here, so that they are not used any more; then at the providers, which may not answer. */
  async #removeOf(whose: Whose, also: readonly Statement[]): Promise<void> {
    const { store } = this.#deps;
    const rows = await listConsents(store, whose);
    await store.commit({ statements: [...deleteAll(whose), ...also], durable: true, erases: true });
    this.#wake();
    this.#revokeAll(rows);
  }

  #revokeAll(rows: readonly ConsentTable[]): void {
    for (const row of rows) this.#announce({ server: row.server, user: row.user_id, isConnected: false });
    this.#track(this.#revokeOneByOne(rows));
  }

  #track(revoking: Promise<void>): void {
    const revoked = revoking.finally(() => this.#revoking.delete(revoked));
    this.#revoking.add(revoked);
  }

  /** A provider is not to take it for an attack. What is left when the daemon stops expires there. */
  async #revokeOneByOne(rows: readonly ConsentTable[]): Promise<void> {
    const { vault } = this.#deps;
    for (const row of rows) {
      const { consent_id: consentId, server, sealed } = row;
      const stored =
        this.#keeper.takeUnsaved(row) ??
        readSealed(StoredConsent, vault.open(placeIn('mcp_consents', consentId), sealed));
      if (stored) await this.#revoke(server, stored);
    }
  }

  async #revoke(server: string, stored: StoredConsent): Promise<void> {
    const { signal } = this.#closing;
    if (signal.aborted) return;
    try {
      const client = presentClient(findOAuthServer(this.#deps, server), stored.client, this.#deps);
      await askProvider(stored.provider.url, this.#deps, (fetch) => revoke({ ...stored, client }, fetch), signal);
    } catch (error) {
      this.#deps.log.warn({ server, why: await whyFailed(error) }, 'a token could not be revoked at its provider');
    }
  }

  #wake(): void {
    for (const listener of this.#waiting) listener();
  }

  #announce(change: Parameters<Listener>[0]): void {
    for (const listener of this.#listeners) listener(change);
  }
}
