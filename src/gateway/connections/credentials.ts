import type { IncomingHttpHeaders } from 'node:http';

/** Which web origins and host names belong to this daemon. */
export interface OriginPolicy {
  /** Whether a Host header names this daemon, against DNS rebinding. */
  checkHost(host: string | undefined): boolean;
  /** Whether a page of this origin is our own, as seen under this Host header. */
  isOwn(origin: string | undefined, host: string | undefined): boolean;
  /** Whether Origin or Sec-Fetch-Site say that a page of someone else sent this. */
  isForeign(headers: IncomingHttpHeaders): boolean;
}

/**
 * The token that an upgrade request carries. A cookie counts only when our own page opened the socket: browsers attach
 * it whoever asks, and a WebSocket is not bound by CORS.
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
