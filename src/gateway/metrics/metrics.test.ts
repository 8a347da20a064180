import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMetrics } from './metrics.ts';
import type { MirroredState } from './state-metrics.ts';

function setUp() {
  const metrics = createMetrics();
  const state = {
    model: 'demo',
    backend: { status: 'up', circuitState: 'half_open' } as ReturnType<MirroredState['backend']>,
    store: { status: 'ok' } as ReturnType<MirroredState['store']>,
  };
  metrics.mirror({
    build: () => ({ version: '0.1.0', model: state.model }),
    uptimeSeconds: () => 12.5,
    workstreams: () => ({ idle: 2, thinking: 0, running: 1, attention: 0, error: 0 }),
    contextUsedRatio: () => 0.25,
    gatewayConnections: () => 3,
    isJudgeEnabled: () => true,
    backend: () => state.backend,
    store: () => state.store,
    toolServers: () => ({ servers: 3, failed: 1, resources: 5, prompts: 2 }),
  });
  const lines = async (name: string) => (await metrics.text()).split('\n').filter((line) => line.startsWith(name));
  return { metrics, state, lines };
}

const SPECIFIED: [name: string, type: string][] = [
  ['service_build_info', 'gauge'],
  ['service_uptime_seconds', 'gauge'],
  ['service_workstreams_active_total', 'gauge'],
  ['service_workstreams_by_state', 'gauge'],
  ['service_http_requests_total', 'counter'],
  ['service_http_request_duration_seconds', 'histogram'],
  ['service_messages_sent_total', 'counter'],
  ['service_tokens_total', 'counter'],
  ['service_tool_calls_total', 'counter'],
  ['service_errors_total', 'counter'],
  ['service_context_window_used_ratio', 'gauge'],
  ['service_sse_connections_active', 'gauge'],
  ['service_ratelimit_rejected_total', 'counter'],
  ['service_backend_up', 'gauge'],
  ['service_circuit_state', 'gauge'],
  ['service_judge_enabled', 'gauge'],
  ['service_judge_verdicts_total', 'counter'],
  ['service_workstreams_evicted_total', 'counter'],
];

test('every specified series exists with its type', async () => {
  const text = await setUp().metrics.text();
  for (const [name, type] of SPECIFIED) assert.match(text, new RegExp(`^# TYPE ${name} ${type}$`, 'm'));
});

test('gauges read the state at each scrape', async () => {
  const { state, lines } = setUp();
  assert.deepEqual(await lines('service_circuit_state'), ['service_circuit_state 2']);
  assert.deepEqual(await lines('service_store_up'), ['service_store_up 1']);
  state.backend = { status: 'down', circuitState: 'open' };
  state.store = { status: 'degraded' };
  state.model = 'gpt';
  const read = await Promise.all(
    [
      'service_circuit',
      'service_backend',
      'service_store_up',
      'service_build',
      'service_uptime',
      'service_gateway_conn',
      'service_mcp',
    ].map(lines),
  );
  assert.deepEqual(read.flat(), [
    'service_circuit_state 1',
    'service_backend_up 0',
    'service_store_up 0',
    'service_build_info{version="0.1.0",model="gpt"} 1',
    'service_uptime_seconds 12.5',
    'service_gateway_connections_active 3',
    'service_mcp_servers 3',
    'service_mcp_server_errors 1',
    'service_mcp_resources 5',
    'service_mcp_prompts 2',
  ]);
});

test('the build and the states have exactly the specified labels, whatever else the state carries', async () => {
  const metrics = createMetrics();
  let scrapes = 0;
  const build = () => ({ version: '0.1.0', model: 'demo', ts: ++scrapes, notices: ['a'] });
  const workstreams = () => ({ total: 3, idle: 2, thinking: 0, running: 1, attention: 0, error: 0 });
  metrics.mirror({
    build,
    workstreams,
    uptimeSeconds: () => 1,
    contextUsedRatio: () => 0,
    gatewayConnections: () => 0,
    isJudgeEnabled: () => false,
    backend: () => ({ status: 'up', circuitState: 'closed' }),
    store: () => ({ status: 'ok' }),
    toolServers: () => ({ servers: 0, failed: 0, resources: 0, prompts: 0 }),
  });
  const read = async () =>
    (await metrics.text()).split('\n').filter((line) => /^service_(build|workstreams)/.test(line));
  const first = await read();
  assert.deepEqual(await read(), first);
  assert.deepEqual(first, [
    'service_workstreams_evicted_total 0',
    'service_build_info{version="0.1.0",model="demo"} 1',
    'service_workstreams_active_total 3',
    'service_workstreams_by_state{state="idle"} 2',
    'service_workstreams_by_state{state="thinking"} 0',
    'service_workstreams_by_state{state="running"} 1',
    'service_workstreams_by_state{state="attention"} 0',
    'service_workstreams_by_state{state="error"} 0',
  ]);
});

test('workstreams are counted per state and together', async () => {
  const { lines } = setUp();
  assert.deepEqual(await lines('service_workstreams_active'), ['service_workstreams_active_total 3']);
  assert.deepEqual(await lines('service_workstreams_by'), [
    'service_workstreams_by_state{state="idle"} 2',
    'service_workstreams_by_state{state="thinking"} 0',
    'service_workstreams_by_state{state="running"} 1',
    'service_workstreams_by_state{state="attention"} 0',
    'service_workstreams_by_state{state="error"} 0',
  ]);
});

test('an HTTP request is counted by row and status, and timed in eleven buckets from 5 ms to 10 s', async () => {
  const { metrics, lines } = setUp();
  const request = { method: 'POST', endpoint: '/v1/api/send', statusCode: 200 };
  metrics.httpRequest({ ...request, seconds: 0.004 });
  metrics.httpRequest({ ...request, seconds: 3 });
  metrics.httpRequest({ ...request, method: 'BREW', statusCode: 405, seconds: 0 });
  assert.deepEqual(await lines('service_http_requests_total'), [
    'service_http_requests_total{method="GET",endpoint="/metrics",status_code="200"} 0',
    'service_http_requests_total{method="POST",endpoint="/v1/api/send",status_code="200"} 2',
    'service_http_requests_total{method="other",endpoint="/v1/api/send",status_code="405"} 1',
  ]);
  const buckets = (await lines('service_http_request_duration_seconds_bucket')).filter((line) => /POST/.test(line));
  assert.equal(buckets.length, 11 + 1, 'and +Inf');
  assert.match(buckets[0] ?? '', /le="0\.005".* 1$/);
  assert.match(buckets[10] ?? '', /le="10".* 2$/);
});

test('all other counters are incremented', async () => {
  const { metrics, lines } = setUp();
  metrics.request('health', 'ok');
  metrics.request('health', 'BUSY');
  metrics.messageSent();
  metrics.tokens('prompt', 120);
  metrics.tokens('cache_read', 7);
  metrics.toolCall('bash');
  metrics.error();
  metrics.rateLimited();
  metrics.evicted();
  metrics.sseConnections(1);
  metrics.sseConnections(1);
  metrics.sseConnections(-1);
  metrics.sseCoalesced();
  const names = ['gateway_requests', 'messages', 'tokens', 'tool', 'errors', 'rate', 'workstreams_ev', 'sse'];
  assert.deepEqual((await Promise.all(names.map((name) => lines(`service_${name}`)))).flat(), [
    'service_gateway_requests_total{method="health",outcome="ok"} 1',
    'service_gateway_requests_total{method="health",outcome="BUSY"} 1',
    'service_messages_sent_total 1',
    'service_tokens_total{type="prompt"} 120',
    'service_tokens_total{type="completion"} 0',
    'service_tokens_total{type="cache_creation"} 0',
    'service_tokens_total{type="cache_read"} 7',
    'service_tool_calls_total{tool="bash"} 1',
    'service_errors_total 1',
    'service_ratelimit_rejected_total 1',
    'service_workstreams_evicted_total 1',
    'service_sse_connections_active 1',
    'service_sse_coalesced_total 1',
  ]);
});

test('label sets beyond a thousand are folded into one', async () => {
  const { metrics, lines } = setUp();
  for (let i = 0; i < 3_000; i++) metrics.toolCall(`invented-${i}`);
  const tools = await lines('service_tool_calls_total');
  assert.equal(tools.length, 1_001);
  assert.equal(tools.at(-1), 'service_tool_calls_total{tool="other"} 2000');
});

test('two instances do not share a registry', async () => {
  const [one, other] = [createMetrics(), createMetrics()];
  one.messageSent();
  assert.match(await other.text(), /^service_messages_sent_total 0$/m);
});

test('process metrics are added on request', async () => {
  const { metrics, lines } = setUp();
  assert.deepEqual(await lines('nodejs_heap_size_used_bytes'), []);
  metrics.observeProcess();
  const [line = ''] = await lines('nodejs_heap_size_used_bytes');
  assert.ok(Number(line.split(' ')[1]) > 1_000_000, line);
});
