import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { isLoopback } from './client-address.ts';
import { UNKNOWN_SESSION } from './machines/forwarded-head.ts';
import type { MachineSessions } from './machines/machine-sessions.ts';

/** Where the providers of tool servers send browsers back. */
export const CONSENT_CALLBACK = '/v1/api/mcp/oauth/callback';

/** The refusals, over HTTP and of WebSockets. */
export const UNKNOWN_HOST = 'Forbidden: this host name is not allowed';
export const FOREIGN = 'Forbidden: request from another site';

/** Why a request is not for this server, as an HTTP answer. */
export interface HostRefusal {
  status: 403 | 503;
  error: string;
  headers?: Record<string, string>;
}

export interface OriginPolicy {
  /** False for an unknown host name, such as that of a foreign page whose DNS name points at this machine. */
  checkHost(host: string | undefined): boolean;
  /** The same with words. Of what another daemon forwards, that daemon has checked the host; it must have greeted this one. */
  refusalOfHost(request: Pick<IncomingMessage, 'method' | 'url' | 'headers'>): HostRefusal | undefined;
  /** Whether an Origin header names the server that received the request. */
  isOwn(origin: string, host: string | undefined): boolean;
  /** Whether the browser reports that another site's page (or another port's) caused the request. */
  isForeign(headers: IncomingHttpHeaders): boolean;
  /** Whether the page may open a WebSocket: our own page, or one of `allowedOrigins`. Programs always may. */
  admitsSocket(headers: IncomingHttpHeaders): boolean;
  /**
   * Whether a foreign page may cause this request: only for reading, and below /v1 only if a credential is required. The
   * providers of tool servers send browsers back to one path, which counts only with what the browser was given before.
   */
  admitsForeign(method: string, path: string): boolean;
}

interface OriginOptions {
  authEnabled: boolean;
  /** `name` (any port) or `name:port`. */
  allowedHosts: readonly string[];
  /** Other sites whose pages may open WebSockets, unless authentication is off. Their sockets ignore the cookie. */
  allowedOrigins: readonly string[];
  /** The address that people use when a proxy stands in front of the daemon. */
  publicUrl: string | undefined;
  host: string;
  port: number;
  /** Whose request another daemon forwards; absent if none can. */
  clientOf?: MachineSessions['clientOf'] | undefined;
}

/**
 * Decides which browser requests come from our own page. The specification fixes the CORS header to `*`, so foreign
 * requests must be refused themselves (decision 20).
 */
export function createOriginPolicy(options: OriginOptions): OriginPolicy {
  const isKnown = knownHosts(options);
  const publicOrigin = options.publicUrl === undefined ? undefined : new URL(options.publicUrl).origin;
  const isOwn = (origin: string, host: string | undefined) =>
    origin !== 'null' && (origin === publicOrigin || (host !== undefined && origin === originOf(host)));
  const isForeign = (headers: IncomingHttpHeaders) => {
    const site = headers['sec-fetch-site'];
    if (site !== undefined && site !== 'same-origin' && site !== 'none') return true;
    return headers.origin !== undefined && !isOwn(headers.origin, headers.host);
  };
  const isAllowed = ({ origin }: IncomingHttpHeaders) =>
    options.authEnabled && origin !== undefined && options.allowedOrigins.includes(origin);
  const checkHost = (host: string | undefined) => host !== undefined && isKnown(host.toLowerCase());
  return {
    checkHost,
    refusalOfHost(request) {
      const client = options.clientOf?.(request);
      if (client === 'unknown') return NOT_GREETED;
      if (client === undefined) return checkHost(request.headers.host) ? undefined : NO_HOST;
      // This daemon listens on a loopback address for that reason; the one that forwards may listen anywhere.
      return options.authEnabled || isLoopback(client.address) ? undefined : NOT_LOCAL;
    },
    isOwn,
    isForeign,
    admitsSocket: (headers) => !isForeign(headers) || isAllowed(headers),
    admitsForeign: (method, path) =>
      method === 'OPTIONS' || // has the same answer for everyone
      ((method === 'GET' || method === 'HEAD') &&
        (options.authEnabled || !path.startsWith('/v1/') || path === CONSENT_CALLBACK)),
  };
}

const NO_HOST: HostRefusal = { status: 403, error: UNKNOWN_HOST };

const NOT_LOCAL: HostRefusal = {
  status: 403,
  error:
    'Forbidden: the active daemon runs without authentication, so only clients on the machines themselves are served',
};

/** A daemon that forwards must introduce itself again after each start of this one. */
const NOT_GREETED: HostRefusal = {
  status: 503,
  error: 'Forwarded by an unknown daemon. Try again in a second.',
  headers: { [UNKNOWN_SESSION]: '1', 'Retry-After': '1' },
};

const HOST = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::(\d{1,5}))?$/;
const LOOPBACK = /^(localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])$/;
const ADDRESS = /^(\d{1,3}(\.\d{1,3}){3}|\[[0-9a-f:.]+\])$/;
const WILDCARD = new Set(['0.0.0.0', '::']);

/** Whether a Host header names this machine, with any port, because a tunnel may have changed it. */
export const isLoopbackHost = (host: string | undefined): boolean =>
  LOOPBACK.test(HOST.exec((host ?? '').toLowerCase())?.[1] ?? '');

function knownHosts({ allowedHosts, publicUrl, host, port }: OriginOptions): (host: string) => boolean {
  const known = new Set(allowedHosts.map((name) => name.toLowerCase()));
  const bound = host.includes(':') ? `[${host}]` : host.toLowerCase();
  known.add(`${bound}:${port}`);
  if (publicUrl !== undefined) known.add(new URL(publicUrl).host);
  return (text) => {
    const name = HOST.exec(text)?.[1];
    if (name === undefined) return false;
    // A page opened by IP address cannot have been rebound by DNS.
    const byAddress = WILDCARD.has(host) && ADDRESS.test(name);
    return LOOPBACK.test(name) || byAddress || known.has(name) || known.has(text);
  };
}

function originOf(host: string): string | undefined {
  return URL.parse(`http://${host}`)?.origin;
}
