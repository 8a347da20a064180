import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClientAddress, isAddressRange } from './client-address.ts';

const request = (remoteAddress: string | undefined, forwarded?: string) =>
  ({
    socket: { remoteAddress },
    headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded },
  }) as Parameters<ReturnType<typeof createClientAddress>>[0]; // the only fields that are read

const direct = createClientAddress([]);
const behindProxies = createClientAddress(['10.0.0.0/8', '192.0.2.7', '2001:db8::/32']);

for (const [what, address, from, expected] of [
  ['the socket tells, whatever a header says', direct, request('192.0.2.1', '203.0.113.9'), '192.0.2.1'],
  ['an IPv4 address is the same within IPv6', direct, request('::ffff:192.0.2.1'), '192.0.2.1'],
  ['a socket that is gone has none', direct, request(undefined), ''],
  ['a stranger’s header counts for nothing', behindProxies, request('198.51.100.1', '203.0.113.9'), '198.51.100.1'],
  ['a trusted proxy tells whom it serves', behindProxies, request('192.0.2.7', '203.0.113.9'), '203.0.113.9'],
  [
    'what the client itself wrote is left of that',
    behindProxies,
    request('10.1.2.3', '1.1.1.1, 203.0.113.9'),
    '203.0.113.9',
  ],
  ['further trusted hops are passed over', behindProxies, request('10.1.2.3', '203.0.113.9, 10.9.9.9'), '203.0.113.9'],
  ['IPv6 proxies and clients', behindProxies, request('2001:db8::1', '2001:dead::2'), '2001:dead::2'],
  ['only trusted hops: the first of them', behindProxies, request('10.1.2.3', '10.1.1.1, 10.9.9.9'), '10.1.1.1'],
  ['no header: the proxy itself', behindProxies, request('10.1.2.3'), '10.1.2.3'],
  ['garbage ends the search', behindProxies, request('10.1.2.3', '203.0.113.9, <script>'), '10.1.2.3'],
] as const) {
  test(`client address: ${what}`, () => assert.equal(address(from), expected));
}

test('an address range is an address with or without a prefix length', () => {
  const good = ['10.0.0.1', '10.0.0.0/8', '::1', '2001:db8::/32', '0.0.0.0/0'];
  const bad = ['', 'proxy.lan', '10.0.0.0/33', '::/129', '10.0.0.0/', '10.0.0.0/8/8', '10.0.0.0/-1'];
  assert.deepEqual([good.filter(isAddressRange), bad.filter(isAddressRange)], [good, []]);
});
