import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
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
  const { error, retry_after: seconds } = await refused.json();
  assert.deepEqual([refused.headers.get('retry-after'), error, seconds > 90], ['2', 'Rate limit exceeded', true]);
  assert.equal((await askAs('192.0.2.1', '/health')).status, 200);
  assert.match(await (await askAs('192.0.2.1', '/metrics')).text(), /^service_ratelimit_rejected_total 2$/m);
});
