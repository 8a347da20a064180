import type { IncomingMessage } from 'node:http';
import type { Endpoint } from '../../protocol/http/endpoint.ts';
import type { Authenticator } from '../gateway/auth/authenticator.ts';
import type { OriginPolicy } from '../gateway/auth/origin-policy.ts';
import type { Principal } from '../gateway/auth/principal.ts';
import { COOKIE, cookieOf } from './cookie.ts';
import { isDeclaredJson, isMultipart } from './input/body.ts';

/** Finds who sent a request: by its Bearer token, else by its cookie. Nothing in the URL is ever a credential. */
export function createIdentify(
  authenticator: Authenticator,
  originPolicy: Pick<OriginPolicy, 'isForeign'>,
): (
  req: IncomingMessage,
  endpoint: Pick<Endpoint, 'noBody'>,
) => Principal | undefined | Promise<Principal | undefined> {
  return (req, { noBody = false }) => {
    const bearer = bearerOf(req.headers.authorization);
    // A wrong Bearer token is a wrong credential, even next to a valid cookie.
    if (bearer !== undefined) return authenticator.authenticate(bearer);
    const isTrusted = isCookieSent(req, originPolicy) && (noBody || isOfOurPage(req));
    return authenticator.authenticate(isTrusted ? cookieOf(req, COOKIE) : undefined, 'cookie');
  };
}

function bearerOf(authorization: string | undefined): string | undefined {
  const match = authorization === undefined ? undefined : /^bearer(?: (.*))?$/i.exec(authorization);
  return match ? (match[1] ?? '').trim() : undefined;
}

const isCookieSent = ({ headers }: IncomingMessage, originPolicy: Pick<OriginPolicy, 'isForeign'>): boolean =>
  headers.cookie !== undefined && !originPolicy.isForeign(headers);

/**
 * Browsers also attach cookies to requests from other pages. Such a page needs a preflight to send JSON, and the
 * preflight does not allow it. Uploads need no preflight and removals have no body, so both must carry an Origin; a
 * foreign one has been refused by then. Calls without a body need neither: a logout must not pretend to have worked.
 */
function isOfOurPage({ method, headers }: IncomingMessage): boolean {
  const { 'content-type': type, origin } = headers;
  if (method === 'GET' || method === 'HEAD' || isDeclaredJson(type)) return true;
  return origin !== undefined && (method === 'DELETE' || isMultipart(type));
}
