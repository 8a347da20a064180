import { BlockList, isIP, isIPv4 } from 'node:net';

/**
 * How far an IP address is trusted as the target of the daemon's requests. `refused`: link-local, cloud metadata, and
 * addresses that belong to no single host; no configuration may use them.
 */
export type AddressClass = 'public' | 'private' | 'refused';

/** The class of an IPv4 or IPv6 address. An IPv6 address that contains an IPv4 address is classified by the latter. */
export function classifyAddress(address: string): AddressClass {
  const [bare = ''] = address.split('%', 1); // the zone of a link-local address
  const family = isIPv4(bare) ? 'ipv4' : 'ipv6';
  if (isIP(bare) === 0) return 'refused';
  if (REFUSED.check(bare, family)) return 'refused';
  return PRIVATE.check(bare, family) ? 'private' : 'public';
}

/** A name that public DNS cannot resolve, so it is meant for a private network (RFC 6761, RFC 6762, RFC 8375). */
export function isPrivateName(host: string): boolean {
  const name = host.toLowerCase().replace(/\.$/, '');
  return !name.includes('.') || /\.(localhost|local|lan|home|internal|intranet|corp|home\.arpa)$/.test(name);
}

// IANA special-purpose registries (RFC 6890), and the addresses at which clouds hand out credentials.
const REFUSED = listOf(
  [
    '0.0.0.0/8',
    '169.254.0.0/16',
    '192.0.0.0/24',
    '224.0.0.0/4',
    '240.0.0.0/4',
    '100.100.100.200/32',
    '168.63.129.16/32',
  ],
  [
    ...['::/128', 'fe80::/10', 'fec0::/10', 'ff00::/8', 'fd00:ec2::/32', 'fd20:ce::254/128', '100::/64', '2001::/32'],
    // Translators of a network (RFC 8215) and of a host (RFC 7915): the IPv4 address behind them is unknown to us.
    ...['64:ff9b:1::/48', '::ffff:0:0:0/96'],
  ],
);
const PRIVATE = listOf(
  ['10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '198.18.0.0/15'],
  ['::1/128', 'fc00::/7'],
);

function listOf(v4: readonly string[], v6: readonly string[]): BlockList {
  const list = new BlockList();
  for (const [net, bits] of [...v4, ...v6].map(splitRange)) list.addSubnet(net, bits, isIPv4(net) ? 'ipv4' : 'ipv6');
  for (const [net, bits] of v4.map(splitRange)) {
    // NAT64 (RFC 6052), IPv4-compatible and 6to4 (RFC 3056) addresses reach the IPv4 address inside. BlockList handles mapped ones.
    list.addSubnet(`64:ff9b::${net}`, 96 + bits, 'ipv6');
    if (net !== '0.0.0.0') list.addSubnet(`::${net}`, 96 + bits, 'ipv6'); // it would contain ::1
    list.addSubnet(`2002:${toGroups(net)}::`, 16 + bits, 'ipv6');
  }
  return list;
}

function splitRange(range: string): [net: string, bits: number] {
  const [net = '', bits = ''] = range.split('/');
  return [net, Number(bits)];
}

function toGroups(v4: string): string {
  const [a = 0, b = 0, c = 0, d = 0] = v4.split('.').map(Number);
  return `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
}
