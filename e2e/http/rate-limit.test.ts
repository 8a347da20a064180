import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import path from 'node:path';
import { test } from 'node:test';
import { readBody } from '../support/clients/read-body.ts';
import { startDaemon } from '../support/daemon/daemon.ts';

test('A client that exceeds the limit must be answered 429, without affecting other clients', async () => {
  await using daemon = await startDaemon();
  const ratelimit = { enabled: true, requestsPerSecond: 0.01, burst: 2, trustedProxies: ['127.0.0.0/8'] };
  await writeFile(path.join(daemon.home, 'config.json'), JSON.stringify({ ratelimit }));
  await daemon.restart();
  const askAs = (client: string, route = '/v1/api/workstreams') =>
    daemon.fetch(route, { headers: { 'X-Forwarded-For': `203.0.113.77, ${client}` } });
  const statuses: number[] = [];
  for (const client of ['192.0.2.1', '192.0.2.1', '192.0.2.1', '192.0.2.2'])
    statuses.push((await askAs(client)).status);
  assert.deepEqual(statuses, [200, 200, 429, 200]);
  const refused = await askAs('192.0.2.1');
  const { error, retry_after: seconds } = await readBody(refused);
  assert.deepEqual([refused.headers.get('retry-after'), error, seconds > 90], ['2', 'Rate limit exceeded', true]);
  assert.equal((await askAs('192.0.2.1', '/health')).status, 200);
  assert.match(await (await askAs('192.0.2.1', '/metrics')).text(), /^service_ratelimit_rejected_total 2$/m);
});

test('By default, clients of other machines must be limited, also behind a trusted proxy, and clients of this machine must not', async () => {
  const ratelimit = { requestsPerSecond: 0.01, burst: 1, trustedProxies: ['127.0.0.9'] };
  await using daemon = await startDaemon({ config: { ratelimit, server: { host: '0.0.0.0' } } });
  const askFrom = async (localAddress: string, headers: Record<string, string> = {}) => {
    const port = daemon.port;
    const req = request({ host: '127.0.0.1', port, localAddress, path: '/v1/api/workstreams', headers, agent: false });
    const [res] = await once(req.end(), 'response');
    res.resume();
    return res.statusCode;
  };
  const twice = async (address: string, headers?: Record<string, string>) => [
    await askFrom(address, headers),
    await askFrom(address, headers),
  ];
  const through = (hops: string) => twice('127.0.0.9', { 'X-Forwarded-For': hops });
  assert.deepEqual(
    {
      local: await twice('127.0.0.1'),
      claiming: await twice('127.0.0.1', { 'X-Forwarded-For': '192.0.2.1' }),
      proxied: await through('192.0.2.1'),
      proxiedSpoof: await through('127.0.0.1, 192.0.2.2'),
      proxiedLocal: await through('192.0.2.1, 127.0.0.1'),
    },
    {
      local: [401, 401],
      claiming: [401, 401],
      proxied: [401, 429],
      proxiedSpoof: [401, 429],
      proxiedLocal: [401, 401],
    },
  );
});
