import type { IncomingHttpHeaders } from 'node:http';
import type { OriginPolicy } from '../auth/origin-policy.ts';

/**
 * The token of an upgrade request. A cookie counts only if our own page opened the socket, because browsers attach it
 * to requests of any page, and CORS does not apply to WebSockets.
 */
export function tokenOfUpgrade(
  { authorization, cookie, origin, host }: IncomingHttpHeaders,
  policy: Pick<OriginPolicy, 'isOwn'>,
): string | undefined {
  const bearer = /^Bearer ([\x21-\x7e]+)$/i.exec(authorization ?? '');
  if (bearer) return bearer[1];
  return origin !== undefined && policy.isOwn(origin, host) ? cookieOf(cookie ?? '') : undefined;
}

function cookieOf(header: string): string | undefined {
  for (const pair of header.split(';')) {
    const [name, ...value] = pair.trim().split('=');
    if (name === 'service_auth') return value.join('=');
  }
  return undefined;
}
