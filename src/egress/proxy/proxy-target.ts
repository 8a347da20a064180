/** Where a client of the proxy wants to go. */
export interface ProxyTarget {
  /** Lower case, without a final dot; a literal address in its usual form, IPv6 without brackets. */
  host: string;
  port: number;
}

/**
 * Reads `host:port`. The rules of URLs turn other spellings of an address (`0x7f.1`, `2130706433`) into the usual one,
 * so that they are checked as what they are. Undefined for everything else, such as names with a user or a NUL.
 */
export function parseTarget(text: string, defaultPort?: number): ProxyTarget | undefined {
  if (!/^[\x21-\x7e]{1,300}$/.test(text) || /[@/\\?#%]/.test(text)) return undefined;
  const url = URL.parse(`http://${text}`);
  const named = /:(\d{1,5})$/.exec(text)?.[1];
  const port = named === undefined ? defaultPort : Number(named);
  if (url === null || port === undefined || port < 1 || port > 65_535) return undefined;
  const host = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  return host === '' || host.endsWith('.') ? undefined : { host, port };
}
