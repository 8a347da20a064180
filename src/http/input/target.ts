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

/**
 * Encodes a path so that Express reads it unchanged. Express would cut it at a `#`, fail for a `%` that is not an
 * escape, and pass a path without a leading slash to the deprecated `url.parse`.
 */
export function toRoutable(path: string): string {
  if (!path.startsWith('/')) return URL.parse(path)?.pathname ?? `/${encodeURIComponent(path)}`; // absolute form
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
