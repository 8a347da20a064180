import { timingSafeEqual } from 'node:crypto';
import { GatewayError } from '../../../../protocol/errors.ts';
import type { OAuthServer } from '../../../agent/mcp/accounts/accounts.ts';
import { placeIn } from '../../secrets/sealed-rows.ts';
import type { ConsentRequestTable } from '../../store/schema/consents/consent-schema.ts';
import { type Statement, tookEffect, UnitRefused } from '../../store/store.ts';
import { askProvider, type ConsentDeps, findOAuthServer, sha256, union, whyFailed } from './consent-deps.ts';
import { consentRefused } from './consent-refusal.ts';
import {
  consentIdOf,
  deleteClient,
  deletePending,
  endRequest,
  findConsent,
  findRequest,
  isUsed,
  listPending,
  putClient,
  putConsent,
  putRequest,
  takeRequest,
} from './consent-rows.ts';
import { discover } from './discover.ts';
import { findOrRegister, isElsewhere, isFixed, toPin } from './oauth-client.ts';
import {
  exchange,
  type Granted,
  oauthCodeOf,
  ProviderUnconfirmed,
  ProviderUnfit,
  requireIssuer,
  toConsentPage,
} from './oauth-protocol.ts';
import { type OAuthClient, type Provider, readSealed, type StoredConsent, StoredRequest } from './sealed-texts.ts';

/** How long a person may stay at the provider. */
const PENDING_MS = 10 * 60_000;

interface Begun {
  /** Where the browser has to go. */
  url: string;
  /** Names the request; public. */
  id: string;
  /** What only this browser may know. */
  browser: string;
  expiresAtMs: number;
}

/** What a browser brings back. */
export interface ConsentAnswer {
  state: string;
  browser: string;
  code: string | undefined;
  iss: string | undefined;
  error: string | undefined;
}

/** The way of a person to the provider of a tool server and back. It survives a restart; each step counts once. */
export function createConsentFlow(deps: ConsentDeps) {
  return {
    async begin(user: string, { server: name, scopes }: { server: string; scopes: readonly string[] }): Promise<Begun> {
      const server = getOAuthServer(deps, name);
      const before = await scopesSoFar(server, user, deps);
      const unknown = scopes.find((scope) => !before.includes(scope) && !server.oauth.scopes.includes(scope));
      // Otherwise a link could make a person consent to anything.
      if (unknown !== undefined)
        throw new GatewayError(
          'INVALID_REQUEST',
          `scopes: neither the configuration nor the server asks for ${unknown}`,
        );
      try {
        const request = await prepare(server, union(before, scopes), deps);
        return await store(request, { user, server: name }, deps);
      } catch (error) {
        if (error instanceof GatewayError) throw error;
        const why = await whyFailed(error);
        deps.log.warn({ server: name, why }, 'no consent could be asked for');
        throw consentRefused(
          error instanceof ProviderUnconfirmed ? 'provider_unconfirmed' : 'provider_unavailable',
          why,
        );
      }
    },
    /** `also`: statements of the same unit, when the account is stored. */
    async finish(
      answer: ConsentAnswer,
      also: (done: { server: string; user: string; scopes: readonly string[] }) => readonly Statement[],
    ): Promise<{ server: string; user: string }> {
      const { row, request } = await take(answer, deps);
      const { server, user_id: user, state_hash: stateHash } = row;
      requireSame(server, request, deps);
      const granted = await redeem(answer, { server, request }, deps);
      requireSame(server, request, deps); // the configuration may have changed while the provider answered
      const scopes = granted.scopes ?? request.scopes;
      await keep({ server, user, stateHash, scopes, granted, request }, also({ server, user, scopes }), deps);
      return { server, user };
    },
  };
}

/** Throws NOT_FOUND or INVALID_REQUEST. */
function getOAuthServer(deps: Pick<ConsentDeps, 'live'>, name: string): OAuthServer {
  const server = findOAuthServer(deps, name);
  if (server) return server;
  const { servers } = deps.live.mcp;
  if (!Object.hasOwn(servers, name) || !servers[name]?.enabled)
    throw new GatewayError('NOT_FOUND', `No such server: no enabled tool server is called ${name}`);
  throw new GatewayError('INVALID_REQUEST', `The tool server ${name} is not used with accounts of people`);
}

/** What was granted or asked for before, so that a consent to more does not lose it. */
async function scopesSoFar({ name }: OAuthServer, user: string, { store }: ConsentDeps): Promise<string[]> {
  const consent = await findConsent(store, consentIdOf(name, user));
  const pending = (await listPending(store, user)).find(({ server }) => server === name);
  return union(...[consent?.scopes, pending?.scopes].map((text) => (text ? text.split(' ') : [])));
}

async function prepare(server: OAuthServer, before: readonly string[], deps: ConsentDeps) {
  return askProvider(server.url, deps, async (fetch) => {
    const { provider, asked } = await discover(server.url, fetch);
    const client = await findOrRegister(server, { provider, fetch }, deps);
    const wanted = union(server.oauth.scopes.length > 0 ? server.oauth.scopes : asked, before);
    return { provider, client, scopes: withRefresh(wanted, provider) };
  });
}

/** Without it, many providers give no refresh token, and the person would have to consent again each hour. */
const withRefresh = (scopes: string[], provider: Provider): string[] =>
  scopes.length > 0 && provider.scopes.includes('offline_access') ? union(scopes, ['offline_access']) : scopes;

const ID_BYTES = 8;
const SECRET_BYTES = 32;

async function store(
  request: Omit<StoredRequest, 'verifier'>,
  { user, server }: { user: string; server: string },
  { vault, ids, clock }: ConsentDeps,
): Promise<Begun> {
  const id = ids.secret(ID_BYTES);
  const state = `${id}.${ids.secret(SECRET_BYTES)}`;
  const browser = ids.secret(SECRET_BYTES);
  const { url, verifier } = await toConsentPage(request, state);
  const hash = sha256(state);
  const nowMs = clock.now();
  const text = JSON.stringify({ ...request, verifier });
  await vault.commitSealed((seal) =>
    putRequest({
      state_hash: hash,
      user_id: user,
      server,
      browser_hash: sha256(browser),
      sealed: seal(placeIn('mcp_consent_requests', hash), text),
      created_ms: nowMs,
      expires_ms: nowMs + PENDING_MS,
    }),
  );
  return { url, id, browser, expiresAtMs: nowMs + PENDING_MS };
}

/** Uses the request up before anything else happens, so that an answer counts once, also if the daemon dies. */
async function take(
  { state, browser }: ConsentAnswer,
  { store, vault, clock }: ConsentDeps,
): Promise<{ row: ConsentRequestTable; request: StoredRequest }> {
  const hash = sha256(state);
  const row = await findRequest(store, hash);
  if (!row || isUsed(row) || row.expires_ms <= clock.now()) throw consentRefused('expired');
  // It is not used up by this: whoever caused it may not be who began it.
  if (!isSame(sha256(browser), row.browser_hash)) throw consentRefused('other_browser');
  const taken = store.commit({ statements: [takeRequest(hash)], durable: true });
  if (!(await tookEffect(taken))) throw consentRefused('expired');
  const request = readSealed(StoredRequest, vault.open(placeIn('mcp_consent_requests', hash), row.sealed));
  if (!request) throw consentRefused('expired');
  return { row, request };
}

const isSame = (a: string, b: string): boolean =>
  a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));

async function redeem(
  { code, iss, error: refusal }: ConsentAnswer,
  { server, request }: { server: string; request: StoredRequest },
  deps: ConsentDeps,
): Promise<Granted> {
  try {
    await requireIssuer(request.provider, iss);
    if (refusal === 'access_denied') throw consentRefused('denied');
    if (refusal !== undefined || code === undefined) throw new ProviderUnfit('it sent an error instead of a code');
    return await askProvider(request.provider.url, deps, (fetch) => exchange(request, { code, iss }, fetch));
  } catch (error) {
    if (error instanceof GatewayError) throw error;
    const why = await whyFailed(error);
    deps.log.warn({ server, why }, 'a consent could not be finished');
    if (!isFixedAt(server, request.client, deps) && (await oauthCodeOf(error)) === 'invalid_client')
      await deps.store.commit({ statements: [deleteClient(server)] });
    throw consentRefused('provider_refused', why);
  }
}

function isFixedAt(name: string, client: OAuthClient, deps: ConsentDeps): boolean {
  const server = findOAuthServer(deps, name);
  return server !== undefined && isFixed(server, client);
}

/** Throws if the server, or the client that was registered by hand, is another one than the person consented to, or gone. */
function requireSame(name: string, { provider, client }: StoredRequest, deps: ConsentDeps): void {
  const server = findOAuthServer(deps, name);
  if (server?.url !== provider.url) throw consentRefused('changed');
  const { clientId } = server.oauth;
  if (clientId !== undefined && (clientId !== client.clientId || isElsewhere(server, client)))
    throw consentRefused('changed');
}

interface Kept {
  server: string;
  user: string;
  stateHash: string;
  scopes: readonly string[];
  granted: Granted;
  request: StoredRequest;
}

async function keep(
  { server, user, stateHash, scopes, granted, request }: Kept,
  also: readonly Statement[],
  deps: ConsentDeps,
): Promise<void> {
  const { vault, clock, users } = deps;
  const consentId = consentIdOf(server, user);
  const nowMs = clock.now();
  const { provider, client } = request;
  const { stored, expiresMs } = toStored({ provider, client }, granted, nowMs);
  const isPinned = isFixedAt(server, client, deps);
  const row = {
    consent_id: consentId,
    user_id: user,
    server,
    scopes: scopes.join(' '),
    version: 1,
    expires_ms: expiresMs,
    created_ms: nowMs,
    updated_ms: nowMs,
  };
  try {
    await vault.commitSealed((seal) => [
      putConsent({ ...row, sealed: seal(placeIn('mcp_consents', consentId), JSON.stringify(stored)) }),
      ...(isPinned
        ? [putClient(server, seal(placeIn('mcp_clients', server), JSON.stringify(toPin(client))), nowMs)]
        : []),
      endRequest(stateHash),
      deletePending(user, server),
      ...also,
    ]);
  } catch (error) {
    if (!(error instanceof UnitRefused)) throw error;
    throw consentRefused(user === '' || users.boundsOf(user) !== undefined ? 'changed' : 'account_disabled');
  }
}

const EARLIEST_MS = 30_000;

/** Tokens as they are stored. With a refresh token, they are renewed a little before they expire. */
export function toStored(
  { provider, client, refreshToken: former }: Pick<StoredConsent, 'provider' | 'client' | 'refreshToken'>,
  { accessToken, refreshToken = former, expiresInSecs }: Granted,
  nowMs: number,
): { stored: StoredConsent; expiresMs: number | null } {
  const lifeMs = expiresInSecs === undefined ? undefined : expiresInSecs * 1_000;
  const stored = {
    provider,
    client,
    accessToken,
    ...(refreshToken !== undefined && { refreshToken }),
    ...(refreshToken !== undefined &&
      lifeMs !== undefined && { renewMs: nowMs + lifeMs - Math.min(EARLIEST_MS, lifeMs / 4) }),
  };
  return { stored, expiresMs: lifeMs === undefined ? null : Math.floor(nowMs + lifeMs) };
}
