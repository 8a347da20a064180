import type { IncomingHttpHeaders } from 'node:http';
import type { CredentialWay } from '../auth/authenticator.ts';
import type { OriginPolicy } from '../auth/origin-policy.ts';

/** The credential of an upgrade request, valid or not. */
export interface UpgradeToken {
  token: string | undefined;
  via: CredentialWay;
}

/**
 * The token of an upgrade request. A cookie counts only if our own page opened the socket, because browsers attach it
 * to requests of any page, and CORS does not apply to WebSockets.
 */
export function tokenOfUpgrade(
  { authorization, cookie, origin, host }: IncomingHttpHeaders,
  policy: Pick<OriginPolicy, 'isOwn'>,
): UpgradeToken {
  const bearer = /^Bearer ([\x21-\x7e]+)$/i.exec(authorization ?? '');
  if (bearer) return { token: bearer[1], via: 'bearer' };
  const isOwn = origin !== undefined && policy.isOwn(origin, host);
  return { token: isOwn ? cookieOf(cookie ?? '') : undefined, via: 'cookie' };
}

function cookieOf(header: string): string | undefined {
  for (const pair of header.split(';')) {
    const [name, ...value] = pair.trim().split('=');
    if (name === 'service_auth') return value.join('=');
  }
  return undefined;
}
