import assert from 'node:assert/strict';
import { test } from 'node:test';
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
