import assert from 'node:assert/strict';
import { test } from 'node:test';
import { classifyAddress, isPrivateName } from './egress-address.ts';

const CLASSES = {
  public: [
    '1.1.1.1',
    '172.32.0.1',
    '100.128.0.1',
    '2606:4700::1111',
    '64:ff9b::1.1.1.1',
    '::ffff:8.8.8.8',
    '2002:808:808::1',
  ],
  private: [
    '127.0.0.1',
    '10.1.2.3',
    '172.16.0.1',
    '192.168.1.1',
    '100.64.0.1',
    '::1',
    'fd12::1',
    '::ffff:127.0.0.1',
    '64:ff9b::10.0.0.1',
  ],
  refused: [
    ...[
      '169.254.169.254',
      '0.0.0.0',
      '224.0.0.1',
      '255.255.255.255',
      '100.100.100.200',
      '168.63.129.16',
      '192.0.0.192',
    ],
    ...['::', 'fe80::1', 'fe80::1%eth0', 'ff02::1', 'fd00:ec2::254', '::ffff:169.254.169.254', '::ffff:a9fe:a9fe'],
    ...['64:ff9b::169.254.169.254', '2002:a9fe:a9fe::1', '::169.254.169.254', 'localhost', ''],
    ...['64:ff9b:1::a9fe:a9fe', '::ffff:0:169.254.169.254'],
  ],
} as const;

for (const [expected, addresses] of Object.entries(CLASSES)) {
  test(`${expected} addresses`, () => {
    assert.deepEqual(
      addresses.filter((address) => classifyAddress(address) !== expected),
      [],
    );
  });
}

test('names that only a private network can resolve are private', () => {
  const names = ['localhost', 'gpu-box', 'a.localhost', 'nas.local', 'NAS.LAN.', 'x.home.arpa', 'host.docker.internal'];
  assert.deepEqual(names.filter(isPrivateName), names);
  assert.deepEqual(['example.com', 'local.example.com', 'lan.io', '127.0.0.1.nip.io'].filter(isPrivateName), []);
});
