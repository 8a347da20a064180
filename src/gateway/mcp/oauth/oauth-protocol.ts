import type { AuthorizationServerMetadata, OAuthTokens } from '@modelcontextprotocol/client';
import { scopesIn } from '../../../agent/mcp/accounts/consent-problem.ts';
import type { createOAuthFetch } from './oauth-fetch.ts';
import type { OAuthClient, Provider, StoredConsent, StoredRequest } from './sealed-texts.ts';

export type OAuthFetch = ReturnType<typeof createOAuthFetch>;

/** What a provider gave. */
export interface Granted {
  accessToken: string;
  refreshToken: string | undefined;
  expiresInSecs: number | undefined;
  /** Undefined: what was asked for. */
  scopes: string[] | undefined;
}

/** A provider does not fit, or does not do what it has to. The message is for people; nothing of it comes from others. */
export class ProviderUnfit extends Error {
  override readonly name = 'ProviderUnfit';
}

/** Nobody has said that the client in the settings is registered with the provider that the tool server names. */
export class ProviderUnconfirmed extends ProviderUnfit {}

/** The protocol package is loaded with the first server that needs it. */
export const load = () => import('@modelcontextprotocol/client');

/** Registers the daemon as a client (RFC 7591). */
export async function register(provider: Provider, redirectUri: string, fetch: OAuthFetch): Promise<OAuthClient> {
  const { registerClient, resolveClientMetadata } = await load();
  if (provider.registrationEndpoint === undefined)
    throw new ProviderUnfit(
      'its provider lets no client register itself; register one there, and set oauth.clientId in config.json',
    );
  const clientMetadata = resolveClientMetadata({
    redirectUrl: redirectUri,
    clientMetadata: {
      client_name: 'Headgate',
      redirect_uris: [redirectUri],
      response_types: ['code'],
      token_endpoint_auth_method: methodFor(provider),
    },
  });
  const registered = await registerClient(provider.issuer, {
    metadata: toMetadata(provider),
    clientMetadata,
    fetchFn: fetch,
  });
  const { client_id, client_secret, token_endpoint_auth_method, client_secret_expires_at: expires } = registered;
  return {
    issuer: provider.issuer,
    redirectUri,
    clientId: client_id,
    ...(client_secret !== undefined && { clientSecret: client_secret }),
    ...(token_endpoint_auth_method !== undefined && { authMethod: token_endpoint_auth_method }),
    ...(expires !== undefined && expires > 0 && { expiresMs: expires * 1_000 }),
  };
}

/** The first that the provider knows. Without a secret, none can be lost: the code is bound to its request by PKCE anyway. */
const methodFor = ({ authMethods }: Provider): string =>
  ['none', 'client_secret_basic', 'client_secret_post'].find((method) => authMethods.includes(method)) ??
  'client_secret_basic';

/** The address at which the person consents, and the verifier of PKCE. */
export async function toConsentPage(
  { provider, client, scopes }: Pick<StoredRequest, 'provider' | 'client' | 'scopes'>,
  state: string,
): Promise<{ url: string; verifier: string }> {
  const { startAuthorization } = await load();
  const { authorizationUrl, codeVerifier } = await startAuthorization(provider.issuer, {
    metadata: toMetadata(provider),
    clientInformation: toInformation(client),
    redirectUrl: client.redirectUri,
    state,
    ...(scopes.length > 0 && { scope: scopes.join(' ') }),
    ...(provider.resource !== undefined && { resource: provider.resource }),
  });
  return { url: authorizationUrl.href, verifier: codeVerifier };
}

/** Throws if an answer names another issuer than the one that was asked (RFC 9207). */
export async function requireIssuer({ issuer, namesIssuer }: Provider, iss: string | undefined): Promise<void> {
  const { validateAuthorizationResponseIssuer } = await load();
  validateAuthorizationResponseIssuer({ iss, expectedIssuer: issuer, issParameterSupported: namesIssuer });
}

/** Exchanges the code of a consent for tokens. */
export async function exchange(
  { provider, client, verifier }: StoredRequest,
  { code, iss }: { code: string; iss: string | undefined },
  fetch: OAuthFetch,
): Promise<Granted> {
  const { exchangeAuthorization } = await load();
  const tokens = await exchangeAuthorization(provider.issuer, {
    ...toTokenRequest(provider, client),
    authorizationCode: code,
    codeVerifier: verifier,
    redirectUri: client.redirectUri,
    ...(iss !== undefined && { iss }),
    fetchFn: fetch,
  });
  return toGranted(tokens);
}

/** Exchanges the refresh token for another token, and perhaps another refresh token. */
export async function refresh(
  { provider, client, refreshToken }: StoredConsent & { refreshToken: string },
  fetch: OAuthFetch,
): Promise<Granted> {
  const { refreshAuthorization } = await load();
  const tokens = await refreshAuthorization(provider.issuer, {
    ...toTokenRequest(provider, client),
    refreshToken,
    fetchFn: fetch,
  });
  return toGranted(tokens);
}

/** Tells the provider that the tokens are no longer used (RFC 7009). */
export async function revoke(
  { provider, client, accessToken, refreshToken }: StoredConsent,
  fetch: OAuthFetch,
): Promise<void> {
  if (provider.revocationEndpoint === undefined) return;
  const { selectClientAuthMethod } = await load();
  const method = selectClientAuthMethod(toInformation(client), provider.authMethods);
  const { clientId, clientSecret = '' } = client;
  const basic = Buffer.from(`${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}`).toString('base64');
  const hint = refreshToken === undefined ? 'access_token' : 'refresh_token';
  const response = await fetch(provider.revocationEndpoint, {
    method: 'POST',
    headers: { ...(method === 'client_secret_basic' && { authorization: `Basic ${basic}` }) },
    body: new URLSearchParams({
      token: refreshToken ?? accessToken,
      token_type_hint: hint,
      ...(method !== 'client_secret_basic' && { client_id: clientId }),
      ...(method === 'client_secret_post' && { client_secret: clientSecret }),
    }),
  });
  if (!response.ok) throw new ProviderUnfit(`its provider answered ${response.status} to a revocation`);
}

/** The error code of OAuth behind a failed request; undefined: it has another reason. */
export async function oauthCodeOf(error: unknown): Promise<string | undefined> {
  const { OAuthError } = await load();
  return error instanceof OAuthError ? error.code : undefined;
}

const toTokenRequest = (provider: Provider, client: OAuthClient) => ({
  metadata: toMetadata(provider),
  clientInformation: toInformation(client),
  ...(provider.resource !== undefined && { resource: provider.resource }),
});

const toMetadata = (provider: Provider): AuthorizationServerMetadata => ({
  issuer: provider.issuer,
  authorization_endpoint: provider.authorizationEndpoint,
  token_endpoint: provider.tokenEndpoint,
  ...(provider.registrationEndpoint !== undefined && { registration_endpoint: provider.registrationEndpoint }),
  response_types_supported: ['code'],
  code_challenge_methods_supported: ['S256'],
  token_endpoint_auth_methods_supported: provider.authMethods,
  authorization_response_iss_parameter_supported: provider.namesIssuer,
});

const toInformation = ({ clientId, clientSecret, authMethod }: OAuthClient) => ({
  client_id: clientId,
  ...(clientSecret !== undefined && { client_secret: clientSecret }),
  ...(authMethod !== undefined && { token_endpoint_auth_method: authMethod }),
});

/** What can stand in a header (RFC 6750, section 2.1), and is no longer than servers accept. */
const TOKEN = /^[\x21-\x7e]{1,32768}$/;
/** Ten years. A later end would be no date, and no number that a database gives back. */
const MOST_LIFE_SECS = 10 * 365 * 86_400;

function toGranted({ access_token, refresh_token, token_type, expires_in, scope }: OAuthTokens): Granted {
  if (token_type.toLowerCase() !== 'bearer') throw new ProviderUnfit('its provider gives tokens of an unknown type');
  if (!TOKEN.test(access_token)) throw new ProviderUnfit('its provider gives a token that cannot be sent');
  const isLimited = expires_in !== undefined && Number.isFinite(expires_in) && expires_in > 0;
  return {
    accessToken: access_token,
    refreshToken: refresh_token,
    expiresInSecs: isLimited ? Math.min(MOST_LIFE_SECS, expires_in) : undefined,
    scopes: scope === undefined ? undefined : scopesIn(scope),
  };
}
