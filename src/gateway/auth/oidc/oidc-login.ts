import type { webcrypto } from 'node:crypto';
import { GatewayError } from '../../../../protocol/errors.ts';
import type { OidcRefusal } from '../../../../protocol/methods/accounts/oidc.ts';
import { wordsOf } from '../../../../protocol/words-of.ts';
import type { Clock } from '../../../clock.ts';
import type { Ids } from '../../../ids.ts';
import type { Log } from '../../../log.ts';
import type { Store } from '../../store/store.ts';
import type { Roles } from '../../users/roles.ts';
import type { Users } from '../../users/users.ts';
import type { LoginThrottle } from '../logins/login-throttle.ts';
import { createIdentities, type Identities } from './identities.ts';
import type { OidcClient } from './oidc-client.ts';
import type { OidcSettings } from './oidc-settings.ts';
import { createOidcUsers, type Entered } from './oidc-users.ts';
import { type AskedLogin, createPendingLogins } from './pending-login.ts';
import { toPerson } from './person-claims.ts';
import { ProviderError } from './provider-error.ts';

/**
 * Long ago: while its own session lasts, a provider answers without asking anybody, so a login is a fresh proof only if the
 * provider says so.
 */
const UNKNOWN_MS = 0;
/** Long enough for the log, whatever a provider writes. */
const MAX_LOGGED = 300;

/** A request for a login: where the browser has to go, and what it has to bring back. */
interface Begun {
  url: string;
  sealed: string;
  expiresAtMs: number;
}

interface Finished extends Entered {
  issuer: string;
  subject: string;
  authenticatedMs: number;
  /** The session of the browser in which it began. */
  follows: string | undefined;
}

/** Logging in through the configured provider. Refusals are a GatewayError with the reason in its details. */
export interface OidcLogin {
  /** Undefined without a provider. */
  readonly settings: OidcSettings | undefined;
  readonly identities: Identities;
  begin(asked: AskedLogin, address: string): Promise<Begun>;
  finish(answer: OidcAnswer, address: string): Promise<Finished>;
}

/** What the browser brings back. */
export interface OidcAnswer {
  sealed: string;
  state: string;
  /** Of the callback, as the provider wrote them. */
  parameters: ReadonlyMap<string, string>;
}

interface OidcLoginDeps {
  settings: OidcSettings | undefined;
  users: Users;
  roles: Roles;
  store: Pick<Store, 'db' | 'commit'>;
  /** Signs the pending logins. */
  key: webcrypto.CryptoKey;
  throttle: LoginThrottle;
  fetch: typeof fetch;
  clock: Pick<Clock, 'now' | 'monotonic'>;
  ids: Pick<Ids, 'secret'>;
  log: Log;
}

export function createOidcLogin(deps: OidcLoginDeps): OidcLogin {
  const { settings, users, roles, store, key, throttle, fetch, clock, ids, log } = deps;
  const identities = createIdentities({ store, clock });
  if (settings === undefined) return { settings, identities, begin: notConfigured, finish: notConfigured };
  const { issuer, clientId } = settings;
  const pending = createPendingLogins({ key, context: [issuer, clientId], clock, ids });
  const people = createOidcUsers({ settings, users, roles, identities, ids, log });
  let opening: Promise<OidcClient> | undefined;

  /** The packages for it are loaded at the first login. */
  const open = () => {
    opening ??= import('./oidc-client.ts').then(({ createOidcClient }) => createOidcClient({ settings, fetch, clock }));
    return opening;
  };

  async function ask<T>(step: (client: OidcClient) => Promise<T>): Promise<T> {
    try {
      return await step(await open());
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error;
      log.warn({ reason: error.reason, why: shorten(wordsOf(error)), issuer }, 'a login through the provider failed');
      throw oidcRefused(error.reason, error);
    }
  }

  async function redeem(sealed: string, state: string, parameters: ReadonlyMap<string, string>) {
    const checks = await pending.finish(sealed, state);
    if (checks === undefined) throw oidcRefused('expired');
    return { claims: await ask((client) => client.redeem(parameters, checks)), follows: checks.follows };
  }

  return {
    settings,
    identities,
    async begin(asked, address) {
      const attempt = await admitted(throttle, 'oidc-start', address);
      attempt.ended('failed'); // every start counts
      const { sealed, checks, expiresAtMs } = await pending.begin(asked);
      return { url: await ask((client) => client.authorizationUrl(checks)), sealed, expiresAtMs };
    },
    async finish({ sealed, state, parameters }, address) {
      const attempt = await admitted(throttle, 'oidc', address);
      // Only answers that the provider had to look at count as failures.
      const { claims, follows } = await redeem(sealed, state, parameters).then(
        (found) => {
          attempt.ended('succeeded');
          return found;
        },
        (error: unknown) => {
          attempt.ended(isGuess(error) ? 'failed' : 'succeeded');
          throw error;
        },
      );
      const person = toPerson(claims);
      if (person === undefined) throw oidcRefused('invalid_token');
      const entry = await people.enter(person, claims);
      if (entry.kind === 'refused') throw oidcRefused(entry.reason);
      const { subject, authenticatedMs = UNKNOWN_MS } = person;
      return { ...entry.entered, issuer, subject, authenticatedMs: Math.min(authenticatedMs, clock.now()), follows };
    },
  };
}

/** Waits while as many logins from the address are in progress as may still fail. */
async function admitted(throttle: LoginThrottle, kind: 'oidc' | 'oidc-start', address: string) {
  for (;;) {
    const attempt = throttle.begin(kind, address);
    if (attempt.kind === 'counted') return attempt;
    if (attempt.kind === 'locked') throw oidcRefused('rate_limited', undefined, attempt.retryAfterMs);
    await attempt.free;
  }
}

/** Whether the provider refused what the browser brought. */
const isGuess = (error: unknown): boolean =>
  error instanceof GatewayError &&
  error.cause instanceof ProviderError &&
  ['provider_refused', 'invalid_token'].includes(error.cause.reason);

const shorten = (text: string): string => text.slice(0, MAX_LOGGED);

function notConfigured(): never {
  throw new GatewayError('NOT_FOUND', 'Login through a provider is not configured');
}

/** A refusal with words for people; none of them come from the provider. */
export function oidcRefused(reason: OidcRefusal, cause?: unknown, retryAfterMs?: number): GatewayError {
  const { code, message } = REFUSALS[reason];
  return new GatewayError(code, message, {
    details: { reason },
    cause,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
}

const REFUSALS: Record<
  OidcRefusal,
  { code: 'UNAUTHORIZED' | 'FORBIDDEN' | 'UNAVAILABLE' | 'BUSY' | 'RATE_LIMITED'; message: string }
> = {
  expired: { code: 'UNAUTHORIZED', message: 'This login has expired or belongs to another browser. Log in again.' },
  denied: { code: 'UNAUTHORIZED', message: 'The provider reports that the login was cancelled.' },
  invalid_token: { code: 'UNAUTHORIZED', message: 'The answer of the provider is not valid.' },
  provider_refused: { code: 'UNAUTHORIZED', message: 'The provider refused the login.' },
  provider_unavailable: { code: 'UNAVAILABLE', message: 'The provider cannot be reached.' },
  no_account: { code: 'FORBIDDEN', message: 'There is no user for this person.' },
  account_disabled: { code: 'FORBIDDEN', message: 'This user is disabled.' },
  no_role: { code: 'FORBIDDEN', message: 'User has no active permissions' },
  busy: { code: 'BUSY', message: 'Too many logins at once. Try again in a few seconds.' },
  rate_limited: { code: 'RATE_LIMITED', message: 'Too many login attempts' },
};
