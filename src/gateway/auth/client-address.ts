import type { IncomingMessage } from 'node:http';
import { BlockList, isIP, isIPv4 } from 'node:net';
import type { MachineSessions } from './machines/machine-sessions.ts';

/** The IP address of a request's client, IPv4 addresses without the IPv6 prefix; empty once the socket is gone. */
export type ClientAddress = (request: Pick<IncomingMessage, 'method' | 'url' | 'headers' | 'socket'>) => string;

/**
 * The socket's address, unless it is a trusted proxy: then the right-most hop of X-Forwarded-For that is not a trusted
 * proxy. Any client may have written the hops left of it. `trustedProxies` are addresses or CIDR ranges. `clientOf`: of a
 * request that another daemon forwards, that daemon has found the address in the same way.
 */
export function createClientAddress(
  trustedProxies: readonly string[],
  clientOf?: MachineSessions['clientOf'],
): ClientAddress {
  const isTrusted = matcher(trustedProxies);
  return (request) => {
    const client = clientOf?.(request);
    if (client !== undefined && client !== 'unknown') return client.address;
    const { headers, socket } = request;
    const peer = plain(socket.remoteAddress ?? '');
    if (trustedProxies.length === 0 || !isTrusted(peer)) return peer;
    return hopBehind(peer, String(headers['x-forwarded-for'] ?? ''), isTrusted);
  };
}

/** Whether the text is an address or a range that `createClientAddress` accepts. */
export function isAddressRange(text: string): boolean {
  const [address = '', bits, more] = text.split('/');
  const family = isIP(address);
  if (family === 0 || more !== undefined) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128));
}

/** Whether an address is one of this machine's loopback interface. */
export const isLoopback = (address: string): boolean => /^(?:::ffff:)?127\.|^::1$/i.test(address);

/** The network that one party may control: an IPv4 address, or the /64 of an IPv6 address. Limits count by it. */
export function networkOf(address: string): string {
  const v4 = address.replace(/^::ffff:/i, '');
  if (isIPv4(v4)) return v4;
  const [head = '', tail] = address.toLowerCase().split('::');
  const groups = head === '' ? [] : head.split(':');
  const filled = tail === undefined ? groups : [...groups, ...Array<string>(8).fill('0')];
  return filled
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':');
}

function hopBehind(peer: string, forwarded: string, isTrusted: (address: string) => boolean): string {
  let client = peer;
  for (const hop of forwarded.split(',').reverse()) {
    const address = plain(hop.trim());
    if (isIP(address) === 0) return client; // not written by a trusted proxy
    client = address;
    if (!isTrusted(address)) return client;
  }
  return client;
}

const plain = (address: string): string => {
  const v4 = address.replace(/^::ffff:/i, '');
  return isIPv4(v4) ? v4 : address;
};

function matcher(ranges: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = '', bits] = range.split('/');
    const family = isIPv4(address) ? 'ipv4' : 'ipv6';
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return (address) => isIP(address) !== 0 && list.check(address, isIPv4(address) ? 'ipv4' : 'ipv6');
}
