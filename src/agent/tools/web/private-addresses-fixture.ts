import type { LookupFunction } from 'node:net';

/** Hosts of addresses that nobody but the configuration may open, in all spellings that programs understand. */
export const PRIVATE_HOSTS: readonly string[] = [
  // This machine
  ...['127.0.0.1', '127.0.0.1.', '127.1', '127.0.1', '127.1.', '127.127.127.127', '127.255.255.254', '127.0.0.2'],
  ...['2130706433', '2130706434', '017700000001', '0177.0.0.1', '0177.0.0.01', '0177.0.1', '0177.1', '000177.0.0.1'],
  ...['0x7f000001', '0x7F000001', '0x7f.0.0.1', '0x7f.0x0.0x0.0x1', '0x7f.1', '0x7f.0.1', '0x0000007f.0.0.1'],
  ...['0', '0.0.0.0', '0.0', '0x0', '00000000', '0.0.0.1', '0.255.255.255'],
  ...['%31%32%37.0.0.1', '127%2E0%2E0%2E1', '①②⑦.⓪.⓪.①', '127。0。0。1', '127．0．0．1', '１２７.0.0.1'],
  ...['localhost', 'LOCALHOST', 'localhost.', 'LocalHost.', 'ⓛⓞⓒⓐⓛⓗⓞⓢⓣ', 'ｌｏｃａｌｈｏｓｔ', 'loc\u00adalhost'],
  ...['a.localhost', 'localhost.localdomain'],
  ...['[::1]', '[0:0:0:0:0:0:0:1]', '[0000:0000:0000:0000:0000:0000:0000:0001]', '[::0001]', '[::]', '[0::0]'],
  // IPv6 addresses that contain an IPv4 address
  ...['[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[0:0:0:0:0:ffff:127.0.0.1]', '[::FFFF:7F00:0001]', '[::ffff:0.0.0.0]'],
  ...['[::127.0.0.1]', '[::7f00:1]', '[::ffff:0:127.0.0.1]', '[::ffff:0:7f00:1]'],
  ...[
    '[64:ff9b::127.0.0.1]',
    '[64:ff9b::7f00:1]',
    '[64:ff9b:1::7f00:1]',
    '[64:ff9b::a9fe:a9fe]',
    '[64:ff9b::10.0.0.1]',
  ],
  ...['[2002:7f00:1::]', '[2002:7f00:0001::1]', '[2002:a00:1::]', '[2002:a9fe:a9fe::]', '[2002:c0a8:101::1]'],
  ...['[2001:0:53aa:64c:0:0:80ff:fffe]', '[::ffff:10.0.0.1]', '[::ffff:c0a8:101]', '[::ffff:169.254.169.254]'],
  // Networks of a house or a company
  ...['10.0.0.1', '10.255.255.254', '167772161', '0xa000001', '012.0.0.1', '10.1', '172.16.0.1', '172.31.255.254'],
  ...[
    '192.168.0.1',
    '192.168.1.1',
    '3232235777',
    '0xc0a80101',
    '0300.0250.1.1',
    '192.168.257',
    '100.64.0.1',
    '198.18.0.1',
  ],
  ...[
    '[fc00::1]',
    '[fd00::1]',
    '[fd12:3456:789a::1]',
    'router',
    'nas.local',
    'printer.lan',
    'wiki.corp',
    'db.internal',
  ],
  // Link-local, metadata and addresses of no single host
  ...[
    '169.254.169.254',
    '169.254.0.1',
    '2852039166',
    '0xa9fea9fe',
    '0251.0376.0251.0376',
    '169.254.43518',
    '169.254.169.254.',
  ],
  ...['[fe80::1]', '[febf::1]', '[fec0::1]', '[fd00:ec2::254]', '[fd20:ce::254]', '100.100.100.200', '168.63.129.16'],
  ...['192.0.0.192', '224.0.0.1', '239.255.255.250', '255.255.255.255', '240.0.0.1', '[ff02::1]', '[100::1]'],
  // Names that lead there
  ...['metadata.google.internal', 'loop.test', 'loop.test.', 'loop6.test', 'mapped.test', 'mixed.test', 'lan.test'],
  ...[
    'link.test',
    'zero.test',
    'nat64.test',
    'sixtofour.test',
    'xn--80ak6aa92e.test',
    'аррӏе.test',
    '127.0.0.1.nip.test',
  ],
];

const ADDRESSES: Readonly<Record<string, readonly string[]>> = {
  'loop6.test': ['::1'],
  'mapped.test': ['::ffff:127.0.0.1'],
  'mixed.test': ['192.0.2.1', '127.0.0.1'],
  'lan.test': ['192.168.1.1'],
  'link.test': ['fe80::1'],
  'zero.test': ['0.0.0.0'],
  'nat64.test': ['64:ff9b::7f00:1'],
  'sixtofour.test': ['2002:7f00:1::'],
  'metadata.google.internal': ['169.254.169.254'],
};

/** Resolves every other name to this machine. */
export const localLookup: LookupFunction = (host, options, callback) => {
  const found = (ADDRESSES[host] ?? ['127.0.0.1']).map((address) => ({
    address,
    family: address.includes(':') ? 6 : 4,
  }));
  const [first = { address: '', family: 0 }] = found;
  if (options.all) callback(null, found);
  else callback(null, first.address, first.family);
};
