/** What a request asks for, as its first line has it. */
export interface Target {
  path: string;
  /** What stands after the `?`. */
  query: string;
}

export function splitTarget(url: string): Target {
  const at = url.indexOf('?');
  return at === -1 ? { path: url, query: '' } : { path: url.slice(0, at), query: url.slice(at + 1) };
}

/**
 * The path as something that Express reads as it stands. By itself it would end it at a `#`, fail for a `%` that encodes
 * nothing, and have what does not begin with a slash read by the `url.parse` that Node warns of.
 */
export function toRoutable(path: string): string {
  if (!path.startsWith('/')) return URL.parse(path)?.pathname ?? `/${encodeURIComponent(path)}`; // as a proxy is asked
  if (!/[#%]/.test(path)) return path;
  const encoded = isDecodable(path) ? path : path.replaceAll('%', '%25');
  return encoded.replaceAll('#', '%23');
}

function isDecodable(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false; // each of its `%` stands for itself
  }
}
