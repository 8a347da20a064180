import { type ProxyTarget, parseTarget } from '../../../egress/proxy/proxy-target.ts';

/** An address on the web that may be asked for. */
export interface WebAddress {
  /** Without a fragment; the host in its usual spelling, without a final dot. */
  url: URL;
  target: ProxyTarget;
}

const PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };

/** Parses an address. A text says why it is not asked for. */
export function parseWebAddress(text: string, base?: URL): WebAddress | string {
  const url = URL.parse(text, base);
  if (url === null) return 'This is no web address. It must be complete: https://example.com/page.';
  const port = PORTS[url.protocol];
  if (port === undefined) return `Only http and https addresses can be read, not ${url.protocol}`;
  if (url.username !== '' || url.password !== '') return 'Addresses with a user name or password are not read.';
  const target = parseTarget(url.host, port);
  if (target === undefined) return `"${url.host}" is no valid host.`;
  if (url.hostname.endsWith('.')) url.hostname = target.host;
  url.hash = '';
  return { url, target };
}
