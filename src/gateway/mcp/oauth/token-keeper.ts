import type { OAuthServer } from '../../../agent/mcp/accounts/accounts.ts';
import { type ConsentCode, ConsentProblem } from '../../../agent/mcp/accounts/consent-problem.ts';
import { isLoopbackHost } from '../../auth/origin-policy.ts';
import { placeIn } from '../../secrets/sealed-rows.ts';
import type { ConsentTable } from '../../store/schema/consents/consent-schema.ts';
import { tookEffect, UnitRefused } from '../../store/store.ts';
import { askProvider, type ConsentDeps, findOAuthServer, union, whyFailed } from './consent-deps.ts';
import { toStored } from './consent-flow.ts';
import {
  consentIdOf,
  deleteClient,
  deleteConsent,
  findConsent,
  findPending,
  putPending,
  renewConsent,
} from './consent-rows.ts';
import { isElsewhere, isFixed, presentClient } from './oauth-client.ts';
import { oauthCodeOf, refresh } from './oauth-protocol.ts';
import { readSealed, StoredConsent } from './sealed-texts.ts';

/** An account that can be used. */
interface Usable {
  row: ConsentTable;
  stored: StoredConsent;
}

interface KeeperNews {
  /** Somebody has to connect an account. */
  waiting(): void;
  /** These tokens were renewed for an account that is gone. */
  orphaned(server: string, stored: StoredConsent): void;
}

/** So many tokens are kept out of the outputs of tools. */
const MOST_HIDDEN = 200;
/** After these, the refresh token is worth nothing. */
const ENDS = new Set(['invalid_grant', 'invalid_client', 'unauthorized_client']);

/** A server may name other ones with each call. */
const MOST_PENDING_SCOPES = 100;
const scopesOf = (row: { scopes: string } | undefined): string[] => (row?.scopes ? row.scopes.split(' ') : []);

/** Gives calls the tokens of their users, and renews them: of one account, one renewal at a time. */
export class TokenKeeper {
  readonly #deps: ConsentDeps;
  /** Renewals under way: all who ask meanwhile share the outcome, so that a provider that hangs is waited for once. */
  readonly #renewals = new Map<string, Promise<Usable | 'later'>>();
  /** Renewed tokens that the store has not taken. The provider may refuse the stored ones by now. */
  readonly #unsaved = new Map<string, Usable>();
  /** Renewed tokens that are being stored. Stored and renewed at the same moment, the newer ones would be refused as outdated. */
  readonly #saves = new Map<string, Promise<Usable | undefined>>();
  readonly #hidden = new Map<string, readonly string[]>();

  readonly #on: KeeperNews;

  constructor(deps: ConsentDeps, on: KeeperNews) {
    this.#deps = deps;
    this.#on = on;
  }

  /** The renewed tokens of an account that is gone, if the store has not taken them. They are given once. */
  takeUnsaved(row: ConsentTable): StoredConsent | undefined {
    const unsaved = this.#unsavedOf(row);
    if (unsaved) this.#forget(unsaved);
    return unsaved?.stored;
  }

  async missing(server: OAuthServer, user: string): Promise<ConsentProblem | undefined> {
    const found = await this.#find(server, user);
    return found instanceof ConsentProblem ? found : undefined;
  }

  async token(server: OAuthServer, user: string): Promise<string> {
    const found = await this.#require(server, user);
    const { renewMs } = found.stored;
    const isOld = renewMs !== undefined && renewMs <= this.#deps.clock.now();
    const { stored, row } = isOld
      ? await this.#renewed(server, user, found)
      : ((await this.#savedUnlessRenewed(found)) ?? (await this.#require(server, user)));
    this.#hide(row.consent_id, stored);
    return stored.accessToken;
  }

  async renew(server: OAuthServer, user: string, refused: string | undefined): Promise<void> {
    const found = await this.#require(server, user);
    if (refused !== undefined && found.stored.accessToken !== refused) return; // another request has renewed it
    await this.#renewed(server, user, found, { isRefused: true });
  }

  async needs(
    server: OAuthServer,
    user: string,
    { code, scopes = [] }: { code: ConsentCode; scopes?: readonly string[] | undefined },
  ): Promise<ConsentProblem> {
    if (!WAITS_FOR_PERSON.has(code)) return this.#problem(server, code);
    const { store, clock, users } = this.#deps;
    if (user !== '' && users.boundsOf(user) === undefined) return this.#problem(server, 'mcp_account_forbidden');
    const row =
      code === 'mcp_insufficient_scope' ? await findConsent(store, consentIdOf(server.name, user)) : undefined;
    const before = await findPending(store, user, server.name);
    const wanted = union(scopesOf(row), scopesOf(before), scopes).slice(-MOST_PENDING_SCOPES);
    const pending = { user, server: server.name, code, scopes: wanted, nowMs: clock.now() };
    await store.commit({ statements: [putPending(pending)] });
    this.#on.waiting();
    return this.#problem(server, code, scopes);
  }

  #problem({ name }: OAuthServer, code: ConsentCode, scopes: readonly string[] = []): ConsentProblem {
    const url = WAITS_FOR_PERSON.has(code) ? startUrlOf(this.#deps.baseUrl(), name) : undefined;
    return new ConsentProblem({ code, server: name, detail: DETAILS[code], scopes, url });
  }

  async #require(server: OAuthServer, user: string): Promise<Usable> {
    const found = await this.#find(server, user);
    if (found instanceof ConsentProblem) throw found;
    return found;
  }

  async #find(server: OAuthServer, user: string): Promise<Usable | ConsentProblem> {
    const { store, vault, users, clock } = this.#deps;
    const problem = (code: ConsentCode) => this.#problem(server, code);
    const { protocol, host } = new URL(server.url);
    if (protocol !== 'https:' && !isLoopbackHost(host)) return problem('mcp_oauth_url_insecure');
    if (user !== '' && users.boundsOf(user) === undefined) return problem('mcp_account_forbidden');
    const row = await findConsent(store, consentIdOf(server.name, user));
    if (!row) return problem('mcp_consent_required');
    const unsaved = this.#unsavedOf(row);
    const stored =
      unsaved?.stored ?? readSealed(StoredConsent, vault.open(placeIn('mcp_consents', row.consent_id), row.sealed));
    if (!stored) return problem('mcp_token_undecryptable_key_unknown');
    // The tokens are for the address, and of the provider, that the person consented to.
    if (stored.provider.url !== server.url || isElsewhere(this.#present(server), stored.client))
      return problem('mcp_consent_required');
    const known = unsaved ?? { row, stored };
    const expiresMs = known.row.expires_ms;
    const isOver = expiresMs !== null && expiresMs <= clock.now() && stored.refreshToken === undefined;
    return isOver ? problem('mcp_consent_required') : known;
  }

  /** `isRefused`: the server does not accept the present token, although it may not have expired. */
  // biome-ignore lint/complexity/useMaxParams: the account, what is known of it, and why.
  async #renewed(server: OAuthServer, user: string, known: Usable, { isRefused = false } = {}): Promise<Usable> {
    const { consent_id: consentId } = known.row;
    const renewal =
      this.#renewals.get(consentId) ??
      this.#renewOnce(server, user, known).finally(() => this.#renewals.delete(consentId));
    this.#renewals.set(consentId, renewal);
    const outcome = await renewal;
    if (outcome !== 'later') return outcome;
    return isRefused ? this.#throwLater(server) : this.#stillValid(server, known);
  }

  async #renewOnce(server: OAuthServer, user: string, known: Usable): Promise<Usable | 'later'> {
    await this.#saves.get(known.row.consent_id);
    const found = await this.#require(server, user);
    if (found.stored.accessToken !== known.stored.accessToken) return found; // it was renewed meanwhile
    const { refreshToken } = found.stored;
    if (refreshToken === undefined) return this.#giveUp(server, user, found);
    try {
      const renewed = await this.#refresh(server, found, refreshToken);
      if (renewed) return renewed;
    } catch (error) {
      return (await this.#isOver(server, found, error)) ? this.#giveUp(server, user, found) : 'later';
    }
    return this.#require(server, user);
  }

  #throwLater(server: OAuthServer): never {
    throw this.#problem(server, 'mcp_refresh_unavailable');
  }

  #stillValid(server: OAuthServer, found: Usable): Usable {
    const { expires_ms: expiresMs } = found.row;
    return expiresMs !== null && expiresMs > this.#deps.clock.now() ? found : this.#throwLater(server);
  }

  /** Whether the refresh token is worth nothing any more. Otherwise it may work later. */
  async #isOver(server: OAuthServer, { stored }: Usable, error: unknown): Promise<boolean> {
    const { name } = server;
    const code = await oauthCodeOf(error);
    this.#deps.log.warn({ server: name, why: await whyFailed(error) }, 'a token could not be renewed');
    // The secret in the settings is wrong or missing, which says nothing about the accounts.
    if (code === 'invalid_client' && isFixed(this.#present(server), stored.client)) return false;
    if (code === 'invalid_client') await this.#deps.store.commit({ statements: [deleteClient(name)] });
    return code !== undefined && ENDS.has(code);
  }

  async #refresh(
    server: OAuthServer,
    { row, stored: before }: Usable,
    refreshToken: string,
  ): Promise<Usable | undefined> {
    const { clock } = this.#deps;
    const stored = { ...before, client: presentClient(this.#present(server), before.client, this.#deps) };
    const granted = await askProvider(server.url, this.#deps, (fetch) => refresh({ ...stored, refreshToken }, fetch));
    const { stored: next, expiresMs } = toStored(stored, granted, clock.now());
    const scopes = granted.scopes?.join(' ') ?? row.scopes;
    const fresh = { row: { ...row, scopes, expires_ms: expiresMs }, stored: next };
    this.#unsaved.set(row.consent_id, fresh);
    return this.#saved(fresh);
  }

  /** With the settings of now: a session that is open was begun with those of then. */
  #present(server: OAuthServer): OAuthServer {
    return findOAuthServer(this.#deps, server.name) ?? server;
  }

  /** The renewed tokens of this version of an account. */
  #unsavedOf({ consent_id: consentId, version, created_ms: createdMs }: ConsentTable): Usable | undefined {
    const unsaved = this.#unsaved.get(consentId);
    return unsaved?.row.version === version && unsaved.row.created_ms === createdMs ? unsaved : undefined;
  }

  /**
   * Stores renewed tokens. If the store fails, they are used nevertheless, and the next call stores them. Undefined: the account
   * is another one by now.
   */
  #saved(known: Usable): Promise<Usable | undefined> {
    const { consent_id: consentId } = known.row;
    if (this.#unsaved.get(consentId) !== known) return Promise.resolve(known);
    const save = this.#saves.get(consentId) ?? this.#save(known).finally(() => this.#saves.delete(consentId));
    this.#saves.set(consentId, save);
    return save;
  }

  /** A renewal stores newer tokens at its end. */
  async #savedUnlessRenewed(known: Usable): Promise<Usable | undefined> {
    return this.#renewals.has(known.row.consent_id) ? known : this.#saved(known);
  }

  async #save(known: Usable): Promise<Usable | undefined> {
    const { row, stored } = known;
    const { consent_id: consentId, version, scopes, expires_ms } = row;
    const { vault, clock, log } = this.#deps;
    try {
      await vault.commitSealed((seal) => {
        const sealed = seal(placeIn('mcp_consents', consentId), JSON.stringify(stored));
        return [renewConsent(row, { sealed, scopes, expires_ms, updated_ms: clock.now() })];
      });
    } catch (err) {
      if (err instanceof UnitRefused) return this.#dropOrphaned(known);
      log.warn({ err, server: row.server }, 'a renewed token could not be stored; trying again with the next call');
      return known;
    }
    this.#forget(known);
    return { row: { ...row, version: version + 1 }, stored };
  }

  /** The account is gone, or another one. Only of one that is gone, nothing at the provider is used any more. */
  async #dropOrphaned(known: Usable): Promise<undefined> {
    const { consent_id: consentId, server } = known.row;
    const isTaken = this.#unsaved.get(consentId) !== known;
    this.#forget(known);
    if (!isTaken && !(await findConsent(this.#deps.store, consentId))) this.#on.orphaned(server, known.stored);
  }

  #forget(known: Usable): void {
    const { consent_id: consentId } = known.row;
    if (this.#unsaved.get(consentId) === known) this.#unsaved.delete(consentId);
  }

  /** Calls that come later find no account. A session that is open gets no token any more. */
  async #giveUp(server: OAuthServer, user: string, { row }: Usable): Promise<never> {
    const { store } = this.#deps;
    await tookEffect(store.commit({ statements: [deleteConsent(row)], durable: true, erases: true }));
    throw await this.needs(server, user, { code: 'mcp_consent_required' });
  }

  #hide(consentId: string, { accessToken, refreshToken }: StoredConsent): void {
    if (this.#hidden.get(consentId)?.[0] === accessToken) return;
    this.#hidden.delete(consentId);
    this.#hidden.set(consentId, [accessToken, ...(refreshToken === undefined ? [] : [refreshToken])]);
    const [oldest] = this.#hidden.keys();
    if (this.#hidden.size > MOST_HIDDEN && oldest !== undefined) this.#hidden.delete(oldest);
    this.#deps.hide([...this.#hidden.values()].flat());
  }
}

/** The address at which a person begins to consent. */
export const startUrlOf = (baseUrl: string, server: string): string =>
  new URL(`/v1/api/mcp/oauth/start?server=${encodeURIComponent(server)}`, baseUrl).href;

const WAITS_FOR_PERSON: ReadonlySet<ConsentCode> = new Set([
  'mcp_consent_required',
  'mcp_insufficient_scope',
  'mcp_token_undecryptable_key_unknown',
]);

const DETAILS: Record<ConsentCode, string> = {
  mcp_consent_required:
    'The person has to connect an account to this tool server first: by opening the address in a browser that is logged in, or with headgate mcp login. Nothing was called.',
  mcp_insufficient_scope:
    'The connected account lacks rights that this call needs. The person can add them: by opening the address in a browser that is logged in, or with headgate mcp login.',
  mcp_token_undecryptable_key_unknown:
    'The stored token cannot be decrypted any more. The person has to connect the account again. Nothing was called.',
  mcp_oauth_url_insecure: 'The address of the tool server is not https, so no token is sent there. Nothing was called.',
  mcp_refresh_unavailable:
    'The token has expired, and the provider of the tool server could not be asked for another one. Try again later. Nothing was called.',
  mcp_account_forbidden: 'There is nobody in whose name this call may be made. Nothing was called.',
};
