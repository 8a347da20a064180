import { readFile } from 'node:fs/promises';
import { isIPv4, SocketAddress } from 'node:net';

/** One end of a connection on this machine, from /proc/net/tcp. */
export interface TcpRow {
  local: Endpoint;
  remote: Endpoint;
  isEstablished: boolean;
  uid: number;
  /** The inode of its socket; 0 when every process has closed it. */
  inode: number;
}

/** An address and port, such as `127.0.0.1 7717`. Equal endpoints have equal texts. */
export type Endpoint = string;

/** Treats an IPv4 address written as IPv6 like the IPv4 address. */
export const toEndpoint = (address: string, port: number): Endpoint => {
  const [plain = ''] = address.replace(/^::ffff:/i, '').split('%');
  return `${isIPv4(plain) ? plain : canonical(plain)} ${port}`;
};

const canonical = (address: string): string => new SocketAddress({ address, family: 'ipv6' }).address;

/** The connection ends with this local port in this network namespace. Rejects where there is no such table. */
export async function findTcpRows(port: number): Promise<TcpRow[]> {
  const [v4, v6] = await Promise.all([
    readFile('/proc/net/tcp', 'utf8'),
    readFile('/proc/net/tcp6', 'utf8').catch(() => ''), // no IPv6 on this machine
  ]);
  const hex = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const lines = [v4, v6].flatMap((table) => table.split('\n').slice(1));
  return lines.flatMap((line) => {
    const [, local = '', remote = '', state, , , , uid, , inode] = line.trim().split(/\s+/);
    if (!local.endsWith(hex)) return [];
    return [
      {
        local: parseEndpoint(local),
        remote: parseEndpoint(remote),
        isEstablished: state === '01',
        uid: Number(uid),
        inode: Number(inode),
      },
    ];
  });
}

/**
 * Parses `0100007F:1E25`: words of 32 bits in the machine's byte order, which is little-endian on all supported
 * machines.
 */
function parseEndpoint(text: string): Endpoint {
  const [address = '', port = ''] = text.split(':');
  const words = address.match(/.{8}/g) ?? [];
  const bytes = words.flatMap((word) => (word.match(/../g) ?? []).reverse());
  const written =
    words.length === 1
      ? bytes.map((byte) => Number.parseInt(byte, 16)).join('.')
      : (bytes.join('').match(/.{4}/g) ?? []).join(':');
  return toEndpoint(canonicalMapped(written), Number.parseInt(port, 16));
}

/** `0000:…:ffff:7f00:0001` is an IPv4 address. */
const canonicalMapped = (address: string): string => (isIPv4(address) ? address : canonical(address));
