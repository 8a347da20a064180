import assert from 'node:assert/strict';
import { test } from 'node:test';
import { httpEdge } from '../../testing/http-edge.ts';

test('the page has its policy: nothing from other origins, not in a frame', async () => {
  await using edge = await httpEdge();
  const { status, headers, text } = await edge.send({ path: '/' });
  assert.deepEqual(
    [status, headers['content-type'], text],
    [200, 'text/html; charset=utf-8', '<title>Headgate</title>'],
  );
  assert.deepEqual(
    [
      headers['content-security-policy'],
      headers['x-content-type-options'],
      headers['referrer-policy'],
      headers['cross-origin-opener-policy'],
      headers['x-frame-options'],
      headers['access-control-allow-origin'],
      headers['strict-transport-security'],
      headers['x-powered-by'],
    ],
    [
      "default-src 'none';script-src 'sha256-AAAA';style-src 'none';connect-src 'self';worker-src 'self';manifest-src 'self';frame-src 'self';img-src data: 'self';" +
        "base-uri 'none';form-action 'none';frame-ancestors 'none'",
      'nosniff',
      'no-referrer',
      'same-origin',
      'DENY',
      '*',
      undefined,
      undefined,
    ],
  );
});

test('metrics and the document need no token', async () => {
  await using edge = await httpEdge();
  const metrics = await edge.send({ path: '/metrics' });
  assert.deepEqual(
    [metrics.headers['content-type'], metrics.text],
    ['text/plain; version=0.0.4; charset=utf-8', 'service_uptime_seconds 1\n'],
  );
  assert.deepEqual(await edge.sendJson({ path: '/openapi.json' }), [200, { openapi: '3.1.0' }]);
});

test('metrics that fail are a 500 without a stack', async () => {
  await using edge = await httpEdge({
    metrics: {
      httpRequest: () => undefined,
      rateLimited: () => undefined,
      sseConnections: () => undefined,
      sseCoalesced: () => undefined,
      text: () => Promise.reject(new Error('boom at /home/ada')),
    },
  });
  assert.deepEqual(await edge.sendJson({ path: '/metrics' }), [500, { error: 'Internal error' }]);
});

test('health is public although its method is not', async () => {
  const summary = {
    ...{ ok: true, ts: 1, durationMs: 0, status: 'ok', version: '0.1.0', nodeId: 'box_12ab', uptimeSeconds: 3 },
    ...{ model: 'demo', modelAlias: 'demo', maxWorkstreams: 50, notices: [] },
    channels: [{ channel: 'telegram', state: 'polling', sinceMs: 0, lastInAtMs: 1_000, backlog: 1, waiting: 2 }],
    workstreams: { total: 1, idle: 1, thinking: 0, running: 0, attention: 0, error: 0 },
    backend: { status: 'up', circuitState: 'half_open' },
    store: { status: 'ok' },
    sandbox: { active: false, reason: 'bwrap is not installed' },
    mcp: { servers: 1, resources: 5, prompts: 2 },
  };
  await using edge = await httpEdge({ answer: () => summary });
  assert.deepEqual(await edge.sendJson({ path: '/health' }), [
    200,
    {
      ...{ status: 'ok', version: '0.1.0', node_id: 'box_12ab', uptime_seconds: 3, model: 'demo', max_ws: 50 },
      workstreams: summary.workstreams,
      backend: { status: 'up', circuit_state: 'half_open' },
      store: { status: 'ok' },
      sandbox: { active: false, reason: 'bwrap is not installed' },
      mcp: { servers: 1, resources: 5, prompts: 2 },
      channels: [
        {
          ...{ channel: 'telegram', state: 'polling', why: '', since: '1970-01-01T00:00:00.000Z', last_poll: null },
          ...{ last_in: '1970-01-01T00:00:01.000Z', last_out: null, backlog: 1, waiting: 2 },
        },
      ],
    },
  ]);
  assert.deepEqual(
    edge.asked.map(({ method, caller }) => [method, caller.principal?.id, [...(caller.principal?.scopes ?? [])]]),
    [['health', 'daemon', ['read']]],
  );
});
