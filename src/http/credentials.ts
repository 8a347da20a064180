import type { IncomingMessage } from 'node:http';
import type { Authenticator } from '../gateway/auth/authenticator.ts';
import type { OriginPolicy } from '../gateway/auth/origin-policy.ts';
import type { Principal } from '../gateway/call.ts';
import { isDeclaredJson } from './body.ts';
import { COOKIE } from './cookie.ts';

/** Who sent a request, by its Bearer token or else its cookie. Nothing in the URL is ever a credential. */
export function createIdentify(
  authenticator: Authenticator,
  originPolicy: Pick<OriginPolicy, 'isForeign'>,
): (req: IncomingMessage) => Promise<Principal | undefined> {
  return (req) => {
    const bearer = bearerOf(req.headers.authorization);
    // A wrong Bearer token is a wrong credential; the cookie does not save it.
    return authenticator.authenticate(bearer ?? (isCookieTrusted(req, originPolicy) ? cookieOf(req) : undefined));
  };
}

function bearerOf(authorization: string | undefined): string | undefined {
  const match = authorization === undefined ? undefined : /^bearer(?: +(.*))?$/i.exec(authorization);
  return match ? (match[1] ?? '').trim() : undefined;
}

/** Browsers attach cookies to other pages' requests too; those need a preflight for JSON, and get none. */
function isCookieTrusted(req: IncomingMessage, originPolicy: Pick<OriginPolicy, 'isForeign'>): boolean {
  if (req.headers.cookie === undefined || originPolicy.isForeign(req.headers)) return false;
  return req.method === 'GET' || req.method === 'HEAD' || isDeclaredJson(req.headers['content-type']);
}

function cookieOf(req: IncomingMessage): string | undefined {
  for (const pair of (req.headers.cookie ?? '').split(';')) {
    const [name, value] = pair.trim().split('=', 2);
    if (name === COOKIE) return value;
  }
  return undefined;
}
