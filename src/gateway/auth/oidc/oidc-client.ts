import { createRemoteJWKSet, errors, type JWTVerifyGetKey, customFetch as joseFetch } from 'jose';

import * as openid from 'openid-client';
import { wordsOf } from '../../../../protocol/words-of.ts';
import type { Clock } from '../../../clock.ts';
import { createBoundedFetch, requireSecure } from './bounded-fetch.ts';
import { verifyIdToken } from './id-token.ts';
import { type OidcSettings, redirectUriOf } from './oidc-settings.ts';
import type { LoginChecks } from './pending-login.ts';
import { ProviderError } from './provider-error.ts';

const TIMEOUT_MS = 10_000;
/** Metadata is read again after this time. */
const METADATA_MS = 3_600_000;
/** At most this many answers are exchanged at once. */
const MOST_AT_ONCE = 20;

/** The provider as a client sees it. Imported at the first login, because most daemons have none. */
export interface OidcClient {
  /** Where the browser has to go. Throws ProviderError, as `redeem` does. */
  authorizationUrl(checks: LoginChecks): Promise<string>;
  /** The checked claims about the person, for the parameters of the callback. */
  redeem(answer: ReadonlyMap<string, string>, checks: LoginChecks): Promise<Record<string, unknown>>;
}

interface ClientDeps {
  settings: OidcSettings;
  fetch: typeof fetch;
  clock: Pick<Clock, 'now' | 'monotonic'>;
  /** How long the provider may take for one answer. */
  timeoutMs?: number;
}

interface Discovered {
  config: openid.Configuration;
  keys: JWTVerifyGetKey;
  sinceMs: number;
}

export function createOidcClient({ settings, fetch, clock, timeoutMs = TIMEOUT_MS }: ClientDeps): OidcClient {
  const bounded = createBoundedFetch({ fetch, issuer: settings.issuer });
  let discovered: Discovered | undefined;
  let discovering: Promise<Omit<Discovered, 'sinceMs'>> | undefined;
  let running = 0;

  /** All logins wait for the same request. A failure is not kept. */
  async function discover(): Promise<Discovered> {
    if (discovered !== undefined && clock.monotonic() - discovered.sinceMs < METADATA_MS) return discovered;
    discovering ??= openProvider(settings, bounded, timeoutMs).finally(() => {
      discovering = undefined;
    });
    const { config, keys } = await discovering;
    discovered = { config, keys, sinceMs: clock.monotonic() };
    return discovered;
  }

  async function exchange(answer: ReadonlyMap<string, string>, checks: LoginChecks) {
    const { config, keys } = await discover().catch(failUnavailable);
    const url = new URL(redirectUriOf(settings));
    for (const [name, value] of answer) url.searchParams.set(name, value);
    const tokens = await openid.authorizationCodeGrant(config, url, {
      expectedState: checks.state,
      expectedNonce: checks.nonce,
      pkceCodeVerifier: checks.verifier,
      idTokenExpected: true,
      ...(checks.isFresh && { maxAge: MAX_AGE_SECS }),
    });
    const { issuer, userinfo_endpoint } = config.serverMetadata();
    const { clientId } = settings;
    const expected = { issuer, clientId, nonce: checks.nonce, nowMs: clock.now() };
    const claims = await verifyIdToken(tokens.id_token ?? '', keys, expected);
    if (userinfo_endpoint === undefined) return claims;
    const more = await openid.fetchUserInfo(config, tokens.access_token, String(claims.sub));
    return Object.assign({}, more, claims);
  }

  async function toAuthorizationUrl({ state, nonce, verifier, isFresh }: LoginChecks): Promise<string> {
    const { config } = await discover();
    const url = openid.buildAuthorizationUrl(config, {
      redirect_uri: redirectUriOf(settings),
      scope: settings.scopes.join(' '),
      state,
      nonce,
      code_challenge: await openid.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      ...(isFresh && { prompt: 'login', max_age: String(MAX_AGE_SECS) }),
    });
    requireSecure(url.href, settings.issuer);
    return url.href;
  }

  return {
    authorizationUrl: (checks) => toAuthorizationUrl(checks).catch(failUnavailable),
    async redeem(answer, checks) {
      if (running >= MOST_AT_ONCE) throw new ProviderError('busy', 'too many logins at once');
      running += 1;
      try {
        return await exchange(answer, checks);
      } catch (error) {
        throw toProviderError(error);
      } finally {
        running -= 1;
      }
    },
  };
}

/** How long ago the person may have proved who they are, if they have to prove it again. */
const MAX_AGE_SECS = 300;

type BoundedFetch = ReturnType<typeof createBoundedFetch>;

async function openProvider(
  { issuer, clientId, clientSecret }: OidcSettings,
  fetch: BoundedFetch,
  timeoutMs: number,
): Promise<Omit<Discovered, 'sinceMs'>> {
  const isLocal = issuer.startsWith('http:');
  const config = await openid.discovery(new URL(issuer), clientId, undefined, toClientAuth(clientSecret), {
    [openid.customFetch]: fetch,
    timeout: timeoutMs / 1_000,
    ...(isLocal && { execute: [openid.allowInsecureRequests] }),
  });
  const { jwks_uri, authorization_endpoint } = config.serverMetadata();
  if (jwks_uri === undefined || authorization_endpoint === undefined)
    throw new TypeError('the metadata of the provider lacks jwks_uri or authorization_endpoint');
  const keys = createRemoteJWKSet(new URL(jwks_uri), {
    [joseFetch]: fetch,
    timeoutDuration: timeoutMs,
    cooldownDuration: 0, // an unknown key is looked up once more: providers replace their keys at any time
  });
  return { config, keys };
}

/** Basic authentication is the default of the standard; providers that list the other one only get that. */
function toClientAuth(secret: string | undefined): openid.ClientAuth {
  if (secret === undefined) return openid.None();
  const [basic, post] = [openid.ClientSecretBasic(secret), openid.ClientSecretPost(secret)];
  return (server, ...request) => {
    const supported = server.token_endpoint_auth_methods_supported;
    const isBasic = supported === undefined || supported.includes('client_secret_basic');
    return (isBasic ? basic : post)(server, ...request);
  };
}

const failUnavailable = (error: unknown): never => {
  throw asUnavailable(error);
};

const asUnavailable = (error: unknown): ProviderError =>
  error instanceof ProviderError ? error : new ProviderError('provider_unavailable', chainOf(error).join(': '), error);

/** The messages of an error and its causes. */
function chainOf(error: unknown): string[] {
  if (!(error instanceof Error)) return [];
  return [error.message, ...chainOf(error.cause)].slice(0, 4);
}

/** What openid-client reports about an answer that arrived, but is not as it must be. */
const INVALID = new Set([
  'OAUTH_INVALID_RESPONSE',
  'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED',
  'OAUTH_JWT_CLAIM_COMPARISON_FAILED',
  'OAUTH_JWT_TIMESTAMP_CHECK_FAILED',
  'OAUTH_JWT_USERINFO_EXPECTED',
  'OAUTH_PARSE_ERROR',
  'OAUTH_UNSUPPORTED_OPERATION',
]);

function toProviderError(error: unknown): ProviderError {
  if (error instanceof ProviderError) return error;
  if (error instanceof openid.AuthorizationResponseError) {
    const isDenied = error.error === 'access_denied';
    return new ProviderError(isDenied ? 'denied' : 'provider_refused', `the provider answers ${error.error}`, error);
  }
  if (error instanceof openid.ResponseBodyError)
    return new ProviderError('provider_refused', `the provider answers ${error.error}`, error);
  const isToken = error instanceof errors.JOSEError && !(error instanceof errors.JWKSTimeout);
  const isInvalid = error instanceof openid.ClientError && INVALID.has(error.code ?? '');
  return isToken || isInvalid ? new ProviderError('invalid_token', wordsOf(error), error) : asUnavailable(error);
}
