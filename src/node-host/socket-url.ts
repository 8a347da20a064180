import { UsageError } from '../start-error.ts';

/** The WebSocket address of a daemon, from any form of its address. */
export function toSocketUrl(text: string): string {
  const url = URL.parse(text);
  if (url === null || !/^(http|ws)s?:$/.test(url.protocol)) {
    throw new UsageError(`"${text}" is not an address. Use one such as http://127.0.0.1:7717.`);
  }
  url.protocol = url.protocol.replace('http', 'ws');
  return url.href;
}
