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
  ['the address of the socket, whatever the header', direct, request('192.0.2.1', '203.0.113.9'), '192.0.2.1'],
  ['an IPv4 address written as IPv6', direct, request('::ffff:192.0.2.1'), '192.0.2.1'],
  ['empty for a closed socket', direct, request(undefined), ''],
  [
    'the header of an untrusted client is ignored',
    behindProxies,
    request('198.51.100.1', '203.0.113.9'),
    '198.51.100.1',
  ],
  ['the header of a trusted proxy is used', behindProxies, request('192.0.2.7', '203.0.113.9'), '203.0.113.9'],
  ['hops that the client wrote are ignored', behindProxies, request('10.1.2.3', '1.1.1.1, 203.0.113.9'), '203.0.113.9'],
  ['further trusted hops are skipped', behindProxies, request('10.1.2.3', '203.0.113.9, 10.9.9.9'), '203.0.113.9'],
  ['IPv6 proxies and clients', behindProxies, request('2001:db8::1', '2001:dead::2'), '2001:dead::2'],
  ['only trusted hops: the first one', behindProxies, request('10.1.2.3', '10.1.1.1, 10.9.9.9'), '10.1.1.1'],
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
