import type { IncomingMessage } from 'node:http';

/** The request target from the request line. */
export interface Target {
  path: string;
  /** The part after the `?`. */
  query: string;
}

export function splitTarget(url: string): Target {
  const at = url.indexOf('?');
  return at === -1 ? { path: url, query: '' } : { path: url.slice(0, at), query: url.slice(at + 1) };
}

const ABSOLUTE = /^https?:\/\/([^/?#]+)/i;

/**
 * Gives a request with a whole URL in place of its path, as clients send it to proxies, the path and the host of the URL.
 * The host takes the place of the Host header (RFC 9112, section 3.2.2) before anything looks at either, so that every
 * check is of the host that counts, also where the request is forwarded to. How many Host headers were sent stays the same.
 */
export function toOriginForm(req: Pick<IncomingMessage, 'url' | 'headers' | 'rawHeaders'>): void {
  const [beginning = '', host] = ABSOLUTE.exec(req.url ?? '') ?? [];
  if (host === undefined) return;
  const rest = req.url?.slice(beginning.length) ?? '';
  req.url = rest.startsWith('/') ? rest : `/${rest}`;
  req.headers.host = host;
  for (let at = 0; at < req.rawHeaders.length; at += 2)
    if (req.rawHeaders[at]?.toLowerCase() === 'host') req.rawHeaders[at + 1] = host;
}

/**
 * Encodes a path so that Express reads it unchanged. Express would cut it at a `#`, fail for a `%` that is not an
 * escape, and pass a path without a leading slash to the deprecated `url.parse`.
 */
export function toRoutable(path: string): string {
  if (!path.startsWith('/')) return URL.parse(path)?.pathname ?? `/${encodeURIComponent(path)}`; // such as `*`
  if (!/[#%]/.test(path)) return path;
  const encoded = isDecodable(path) ? path : path.replaceAll('%', '%25');
  return encoded.replaceAll('#', '%23');
}

function isDecodable(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false; // every `%` in it is literal
  }
}
