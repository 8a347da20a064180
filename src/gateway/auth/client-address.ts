import type { IncomingMessage } from 'node:http';
import { BlockList, isIP, isIPv4 } from 'node:net';

/** Whose request it is: an IP address, IPv4 ones without the IPv6 prefix; empty once the socket is gone. */
export type ClientAddress = (request: Pick<IncomingMessage, 'headers' | 'socket'>) => string;

/**
 * The socket's address, unless that is a proxy we trust: then the right-most hop of X-Forwarded-For that is none. What
 * stands left of it anybody may have written. `trustedProxies` are addresses or CIDR ranges.
 */
export function createClientAddress(trustedProxies: readonly string[]): ClientAddress {
  const isTrusted = matcher(trustedProxies);
  return ({ headers, socket }) => {
    const peer = plain(socket.remoteAddress ?? '');
    if (trustedProxies.length === 0 || !isTrusted(peer)) return peer;
    return hopBehind(peer, String(headers['x-forwarded-for'] ?? ''), isTrusted);
  };
}

/** A single address or a range, as `createClientAddress` takes it. */
export function isAddressRange(text: string): boolean {
  const [address = '', bits, more] = text.split('/');
  const family = isIP(address);
  if (family === 0 || more !== undefined) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128));
}

function hopBehind(peer: string, forwarded: string, isTrusted: (address: string) => boolean): string {
  let client = peer;
  for (const hop of forwarded.split(',').reverse()) {
    const address = plain(hop.trim());
    if (isIP(address) === 0) return client; // nothing that a proxy of ours wrote
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
