import { isIP } from 'node:net';
import { classifyAddress, isPrivateName } from '../../../egress/egress-address.ts';
import { EgressError } from '../../../egress/guarded-egress.ts';
import { isLoopbackHost } from '../../auth/origin-policy.ts';

/** An address that a tool server or its provider named is not asked. A TypeError, because the package gives others up silently. */
export class RefusedAddress extends TypeError {
  override readonly name = 'RefusedAddress';
}

interface OAuthFetchOptions {
  /** The daemon's own: it connects to the address that it has checked, and follows no redirect. */
  fetch: typeof fetch;
  /** The configured address of the tool server. */
  serverUrl: string;
  /** Hosts that may be private by the configuration. */
  privateHosts: readonly string[];
  signal: AbortSignal;
}

/** More than the metadata of any provider. */
const MOST_BYTES = 512 * 1024;

/**
 * Requests to addresses that a tool server names, which is a stranger: https only, and into the private network only to
 * where the server itself is. Answers have a limited size.
 */
export function createOAuthFetch({ fetch, serverUrl, privateHosts, signal }: OAuthFetchOptions) {
  return async (address: string | URL, init: RequestInit = {}): Promise<Response> => {
    requireAllowed(new URL(address), { serverUrl, privateHosts });
    try {
      const response = await fetch(address, { ...init, signal });
      const { status, statusText, headers } = response;
      const bytes = await readBody(response);
      return new Response(NO_BODY.has(status) ? null : bytes, { status, statusText, headers: new Headers(headers) });
    } catch (error) {
      const cause = error instanceof Error && error.cause instanceof EgressError ? error.cause : error;
      throw cause instanceof EgressError ? new RefusedAddress(cause.message, { cause }) : error;
    }
  };
}

/** `Response` refuses a body with these. */
const NO_BODY = new Set([204, 205, 304]);

/** Throws RefusedAddress. */
function requireAllowed(
  url: URL,
  { serverUrl, privateHosts }: Pick<OAuthFetchOptions, 'serverUrl' | 'privateHosts'>,
): void {
  const server = new URL(serverUrl);
  requireSecure(url, server);
  const host = bare(url);
  if (!isPrivate(host) || isBeside(url, server)) return;
  if (privateHosts.some((known) => known.toLowerCase() === host)) return;
  throw new RefusedAddress(
    `${host} is in the private network, and the tool server is elsewhere. If that is intended, add it to egress.privateHosts in config.json.`,
  );
}

/** Throws RefusedAddress for an address at which others could read or change what is sent, or that is no web address. */
export function requireSecure(url: URL, server: URL): void {
  if (url.username !== '' || url.password !== '')
    throw new RefusedAddress(`${url.host}: an address with a user or a password is not used`);
  if (url.protocol === 'https:') return;
  if (
    url.protocol === 'http:' &&
    isLoopbackHost(url.host) &&
    server.protocol === 'http:' &&
    isLoopbackHost(server.host)
  )
    return;
  throw new RefusedAddress(`${url.protocol}//${url.host} is not used, because it is not https`);
}

const bare = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '').toLowerCase();

const isPrivate = (host: string): boolean =>
  isIP(host) === 0 ? isPrivateName(host) : classifyAddress(host) !== 'public';

const isBeside = (url: URL, server: URL): boolean =>
  bare(url) === bare(server) || (isLoopbackHost(url.host) && isLoopbackHost(server.host));

async function readBody({ body }: Response): Promise<Uint8Array<ArrayBuffer>> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  if (body === null) return new Uint8Array();
  for await (const piece of body) {
    size += piece.byteLength;
    if (size > MOST_BYTES) throw new RefusedAddress(`an answer of more than ${MOST_BYTES / 1024} KiB`);
    pieces.push(piece);
  }
  return new Uint8Array(Buffer.concat(pieces));
}
