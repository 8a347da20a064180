import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { httpEdge } from '../../testing/http-edge.ts';
import { withoutNode } from './node-prefix.ts';

const cluster = { here: { nodeId: 'node_1a2b', serverUrl: '' } };
const NODE = '/node/node_1a2b';
const evil = { origin: 'http://evil.test' };

test('only the own prefix is taken off, once, and as it was sent', () => {
  const without = (path: string) => withoutNode(path, cluster);
  assert.deepEqual(
    [NODE, `${NODE}/`, `${NODE}/v1/x`, `${NODE}${NODE}/v1/x`, `${NODE}//v1/x`, `${NODE}/../x`].map(without),
    ['/', '/', '/v1/x', `${NODE}/v1/x`, '//v1/x', '/../x'],
  );
  const others = ['/', '/node', '/node/', `${NODE}x/v1`, '/node/node_1a2/v1', '/node/node%5f1a2b/v1', `/x${NODE}/v1`];
  assert.deepEqual(others.map(without), others);
});

test('with auth off, pages of other sites cannot read below /v1 through the prefix', async () => {
  await using edge = await httpEdge({ authEnabled: false, answer: () => ({ workstreams: [] }) });
  const statusOf = async (path: string, headers = {}) => (await edge.send({ path, headers })).status;
  const path = '/v1/api/workstreams';
  assert.deepEqual([await statusOf(path, evil), await statusOf(`${NODE}${path}`, evil)], [403, 403]);
  assert.deepEqual(edge.asked, []);
  assert.deepEqual([await statusOf(`${NODE}${path}`), await statusOf(`${NODE}/`, evil)], [200, 200]);
});

test('requests below the prefix are limited like the others, and its health is not', async () => {
  const limited: string[] = [];
  const rateLimit = ({ url = '' }) => {
    limited.push(url);
    return 340;
  };
  await using edge = await httpEdge({ rateLimit, answer: () => ({}) });
  const headers = { authorization: 'Bearer approve' };
  const statusOf = async (path: string, method = 'GET') => (await edge.send({ method, path, headers })).status;
  const paths = [`${NODE}/v1/api/workstreams`, '/node/other/health', '/node/other/metrics', `${NODE}${NODE}/metrics`];
  for (const path of [...paths, '/v1/api/route', '/v1/api/cluster/events', `${NODE}/`, '/node/..'])
    assert.deepEqual([path, await statusOf(path)], [path, 429]);
  assert.equal(limited.length, 8);
  assert.equal(await statusOf(`${NODE}/metrics`), 200);
  assert.equal(await statusOf(`${NODE}/v1/api/send`, 'OPTIONS'), 200);
  assert.equal(limited.length, 8);
});

test('requests are counted under the row, whatever their prefix, so that ids make no further series', async () => {
  await using edge = await httpEdge({ answer: () => ({ workstreams: [] }) });
  const headers = { authorization: 'Bearer read' };
  for (const path of [`${NODE}/v1/api/workstreams`, '/node/a/b/c', '/node/d', '/v1/api/route/workstreams/w/history'])
    await edge.send({ path, headers });
  assert.deepEqual(
    edge.counted.map((counted) => (Array.isArray(counted) ? counted[1] : counted)),
    [
      ...['/v1/api/workstreams', '/node/{node_id}/{+rest}', '/node/{node_id}'],
      '/v1/api/route/workstreams/{ws_id}/history',
    ],
  );
});

/** A machine that answers everything with the same type and body. */
async function openStandby(type: string | undefined, body: string) {
  const server = createServer((_req, res) =>
    res.writeHead(200, type === undefined ? {} : { 'Content-Type': type }).end(body),
  );
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

test('of another machine, only what a standby answers is passed on', async () => {
  const metrics = 'text/plain; version=0.0.4; charset=utf-8';
  const found: unknown[] = [];
  for (const type of ['application/json', metrics, 'text/html', 'text/plain', 'image/svg+xml', undefined]) {
    await using standby = await openStandby(type, '{"status":"standby"}');
    const standbys = () => new Map([['node_3c4d', standby.address]]);
    const others = { read: async () => [], ownerOf: async () => undefined, liveOf: async () => undefined };
    const own = { here: cluster.here, workers: () => new Map<string, string>(), onStandbys: () => () => undefined };
    await using edge = await httpEdge({ cluster: { ...own, ...others, standbys } });
    const { status, headers } = await edge.send({
      path: '/node/node_3c4d/health',
      headers: { authorization: 'Bearer read' },
    });
    found.push([type, status, status === 200 && headers['content-type'], headers['x-content-type-options']]);
  }
  assert.deepEqual(found, [
    ['application/json', 200, 'application/json', 'nosniff'],
    [metrics, 200, metrics, 'nosniff'],
    ['text/html', 502, false, undefined],
    ['text/plain', 502, false, undefined],
    ['image/svg+xml', 502, false, undefined],
    [undefined, 502, false, undefined],
  ]);
});
