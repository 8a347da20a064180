import { readFile } from 'node:fs/promises';
import { isIPv4, SocketAddress } from 'node:net';

/** One end of a connection of this machine, as /proc/net/tcp lists it. */
export interface TcpRow {
  local: Endpoint;
  remote: Endpoint;
  isEstablished: boolean;
  uid: number;
  /** Of its socket; 0 when every process has closed it. */
  inode: number;
}

/** Equal texts are equal endpoints: `127.0.0.1 7717`. */
export type Endpoint = string;

/** An IPv4 address may be written as an IPv6 one. */
export const toEndpoint = (address: string, port: number): Endpoint => {
  const [plain = ''] = address.replace(/^::ffff:/i, '').split('%');
  return `${isIPv4(plain) ? plain : canonical(plain)} ${port}`;
};

const canonical = (address: string): string => new SocketAddress({ address, family: 'ipv6' }).address;

/** The ends in this network namespace that have this local port. Rejects where there is no such table. */
export async function findTcpRows(port: number): Promise<TcpRow[]> {
  const [v4, v6] = await Promise.all([
    readFile('/proc/net/tcp', 'utf8'),
    readFile('/proc/net/tcp6', 'utf8').catch(() => ''), // no IPv6 here
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

/** `0100007F:1E25`: words of 32 bits, each in the byte order of the machine, which is little-endian wherever we look. */
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

/** `0000:…:ffff:7f00:0001` is an IPv4 address too. */
const canonicalMapped = (address: string): string => (isIPv4(address) ? address : canonical(address));
