import type { IncomingMessage } from 'node:http';
import { LIMITS } from '../../protocol/limits.ts';
import type { Via } from './bind.ts';

export const COOKIE = 'service_auth';

/** The cookie of a login session. */
export const loginCookie = (jwt: string, via: Via): string => cookie(jwt, LIMITS.cookieMs / 1000, via);

export const expiredCookie = (via: Via): string => cookie('', 0, via);

/**
 * The cookie of a login at a provider. Its prefix keeps other hosts of the same domain from setting it, which browsers
 * allow only for Secure cookies.
 */
const pendingName = ({ loopback }: Via): string => (loopback ? 'service_oidc' : '__Host-service_oidc');

export const pendingCookie = (pending: string, via: Via): string =>
  cookie(pending, LIMITS.loginCodeMs / 1000, via, pendingName(via));

export const expiredPendingCookie = (via: Via): string => cookie('', 0, via, pendingName(via));

export const pendingIn = (via: Via): string | undefined => via.cookieOf(pendingName(via));

/** The cookie of a consent at the provider of a tool server. Each has its own, so that two may go on at once. */
const consentName = (id: string, { loopback }: Via): string => `${loopback ? '' : '__Host-'}service_mcp_${id}`;

export const consentCookie = ({ id, pending }: { id: string; pending: string }, via: Via): string =>
  cookie(pending, LIMITS.loginCodeMs / 1000, via, consentName(id, via));

/** The one that belongs to the answer of a provider. It can be used once, so nothing has to delete it. */
export function consentIn(state: string, via: Via): string | undefined {
  const id = /^([0-9a-f]{16})\./.exec(state)?.[1];
  return id === undefined ? undefined : via.cookieOf(consentName(id, via));
}

// biome-ignore lint/complexity/useMaxParams: the name is usually the same.
function cookie(value: string, maxAgeSecs: number, { loopback }: Via, name = COOKIE): string {
  const secure = loopback ? '' : '; Secure';
  return `${name}=${value}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${maxAgeSecs}${secure}`;
}

/** The first cookie of that name. */
export function cookieOf({ headers }: Pick<IncomingMessage, 'headers'>, wanted: string): string | undefined {
  for (const pair of (headers.cookie ?? '').split(';')) {
    const [name, value] = pair.trim().split('=', 2);
    if (name === wanted) return value;
  }
  return undefined;
}
