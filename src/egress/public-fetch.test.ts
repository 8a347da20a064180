import assert from 'node:assert/strict';
import type { LookupFunction } from 'node:net';
import { networkInterfaces } from 'node:os';
import { test } from 'node:test';
import { createGuardedEgress } from './guarded-egress.ts';
import { classifyHere } from './host-decision.ts';
import { createPublicFetch } from './public-fetch.ts';

const asked: string[] = [];
const fetch = createPublicFetch(
  async (url) => {
    asked.push(url);
    return new Response('ok');
  },
  () => ['Files.LAN', '127.0.0.9'],
);

test('private addresses and names are refused unless they are listed, others are asked', async () => {
  const refused = [
    ...['http://127.0.0.1/', 'http://[::1]/', 'http://10.1.2.3/x', 'http://169.254.169.254/', 'http://localhost:80/'],
    ...[
      'http://nas.local/',
      'http://2130706433/',
      'http://0x7f.1/',
      'http://[::ffff:127.0.0.1]/',
      'http://LOCALHOST./',
    ],
    ...['file:///etc/passwd', 'ftp://example.com/'],
  ];
  for (const url of refused) await assert.rejects(fetch(url, {}), { name: 'EgressError' }, url);
  assert.deepEqual(asked, []);
  const allowed = ['https://example.com/a.png', 'http://93.184.216.34/', 'http://files.lan/x', 'http://127.0.0.9/'];
  for (const url of allowed) await fetch(url, {});
  assert.deepEqual(asked, allowed);
});

const ownAddress = Object.values(networkInterfaces())
  .flatMap((entries) => entries ?? [])
  .find(({ internal, family }) => !internal && family === 'IPv4')?.address;

test('an address of this machine is private, also for a name that resolves to it', async () => {
  const own = ownAddress ?? '127.0.0.1';
  await assert.rejects(fetch(`http://${own}:9100/metrics`, {}), { name: 'EgressError' });
  const lookup: LookupFunction = (_host, _options, callback) => callback(null, [{ address: own, family: 4 }]);
  const { fetch: outside } = createGuardedEgress({
    privateHosts: () => [],
    environment: {},
    classify: classifyHere,
    lookup,
  });
  await assert.rejects(outside('http://example.com:9100/'), (error: Error) => {
    assert.match(`${error.cause}`, /example\.com resolves to the private address/);
    return true;
  });
});
