import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { readMonitoring, selectorsOf } from '../../src/testing/monitoring.ts';
import { openStage } from '../support/daemon/stage.ts';
import { callTools, say, stall } from '../support/model/scripted-steps.ts';

const { model, daemon } = await openStage();

const STATES = ['idle', 'thinking', 'running', 'attention', 'error'];

interface Series {
  name: string;
  labels: Record<string, string>;
  value: number;
}

/** Every sample of one scrape. */
async function scrape(): Promise<Series[]> {
  const text = await (await daemon.fetch('/metrics')).text();
  return [...text.matchAll(/^(\w+)(?:\{(.*)\})? (\S+)$/gm)].map(([, name = '', labels = '', value]) => ({
    name,
    labels: Object.fromEntries([...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, key, text]) => [key, text])),
    value: Number(value),
  }));
}

const namesOf = (samples: Series[]) =>
  samples.map(({ name, labels }) => `${name} ${JSON.stringify(labels)}`).sort((a, b) => a.localeCompare(b));

test('the first two scrapes have the same series', async () => {
  const first = namesOf(await scrape());
  assert.deepEqual(namesOf(await scrape()), first);
  assert.ok(first.length > 20);
});

test('`service_build_info` must have exactly the labels version and model', async () => {
  const { version } = (await daemon.get('/health')).body;
  const builds = (await scrape()).filter(({ name }) => name === 'service_build_info');
  assert.deepEqual(builds, [{ name: 'service_build_info', labels: { version, model: 'scripted' }, value: 1 }]);
});

test('`service_workstreams_by_state` must have the five states, whose sum is the active total and the total of `/health`', async () => {
  const { ws_id } = (await daemon.post('/v1/api/workstreams/new', {})).body;
  await daemon.post('/v1/api/workstreams/new', {});
  const hold = stall();
  model.when('think on', [hold, say('done')]);
  await using stream = await daemon.sse(ws_id);
  await daemon.post('/v1/api/send', { ws_id, message: 'think on' });
  await stream.until(({ data }) => data.state === 'thinking');
  const samples = await scrape();
  const { total, ...counts } = (await daemon.get('/health')).body.workstreams;
  const byState = samples.filter(({ name }) => name === 'service_workstreams_by_state');
  assert.deepEqual(
    byState.map(({ labels, value }) => [labels, value]),
    STATES.map((state) => [{ state }, counts[state]]),
  );
  assert.deepEqual([counts.thinking, total], [1, 3]);
  const active = samples.filter(({ name }) => name === 'service_workstreams_active_total').map(({ value }) => value);
  assert.deepEqual([active, byState.reduce((sum, { value }) => sum + value, 0)], [[total], total]);
  hold.release();
});

/** The metrics of the specification: name, type, and the names of the labels. */
const SPECIFIED: [name: string, type: string, labels: string[]][] = [
  ['service_build_info', 'gauge', ['version', 'model']],
  ['service_uptime_seconds', 'gauge', []],
  ['service_workstreams_active_total', 'gauge', []],
  ['service_workstreams_by_state', 'gauge', ['state']],
  ['service_http_requests_total', 'counter', ['method', 'endpoint', 'status_code']],
  ['service_http_request_duration_seconds', 'histogram', ['method', 'endpoint']],
  ['service_messages_sent_total', 'counter', []],
  ['service_tokens_total', 'counter', ['type']],
  ['service_tool_calls_total', 'counter', ['tool']],
  ['service_errors_total', 'counter', []],
  ['service_context_window_used_ratio', 'gauge', []],
  ['service_sse_connections_active', 'gauge', []],
  ['service_ratelimit_rejected_total', 'counter', []],
  ['service_backend_up', 'gauge', []],
  ['service_circuit_state', 'gauge', []],
  ['service_workstreams_evicted_total', 'counter', []],
];
/** Further series of the daemon (decision 64). */
const ADDED: typeof SPECIFIED = [
  ['service_store_commit_seconds', 'histogram', []],
  ['service_queue_length', 'gauge', ['queue']],
  ['service_store_up', 'gauge', []],
  ['service_watches_active', 'gauge', []],
  ['service_mcp_servers', 'gauge', []],
  ['service_mcp_server_errors', 'gauge', []],
  ['service_mcp_resources', 'gauge', []],
  ['service_mcp_prompts', 'gauge', []],
  ['nodejs_eventloop_lag_p99_seconds', 'gauge', []],
  ['service_workstream_info', 'gauge', ['ws_id']],
  ['service_workstream_prompt_tokens_total', 'counter', ['ws_id']],
  ['service_workstream_completion_tokens_total', 'counter', ['ws_id']],
  ['service_workstream_messages_total', 'counter', ['ws_id']],
  ['service_workstream_tool_calls_total', 'counter', ['ws_id']],
  ['service_workstream_context_ratio', 'gauge', ['ws_id']],
];
const BUCKETS = ['0.005', '0.01', '0.025', '0.05', '0.1', '0.25', '0.5', '1', '2.5', '5', '10', '+Inf'];

test('`/metrics` must have every specified metric with its type, its labels and its buckets', async () => {
  const { ws_id } = (await daemon.post('/v1/api/workstreams/new', {})).body;
  model.when('list the files', callTools({ name: 'list_directory', arguments: { path: '.' } }), say('done'));
  await using stream = await daemon.sse(ws_id);
  await daemon.post('/v1/api/send', { ws_id, message: 'list the files' });
  await stream.until(({ data }) => data.state === 'idle');
  const answer = await daemon.fetch('/metrics');
  assert.deepEqual(
    [answer.status, answer.headers.get('content-type')],
    [200, 'text/plain; version=0.0.4; charset=utf-8'],
  );
  const text = await answer.text();
  const samples = await scrape();
  for (const [name, type, labels] of [...SPECIFIED, ...ADDED]) {
    assert.match(text, new RegExp(`^# TYPE ${name} ${type}$`, 'm'));
    const ends = type === 'histogram' ? ['_bucket', '_sum', '_count'] : [''];
    for (const end of ends) {
      const found = samples.filter((sample) => sample.name === `${name}${end}`);
      assert.ok(found.length > 0, `${name}${end} has a sample`);
      const expected = end === '_bucket' ? ['le', ...labels] : labels;
      for (const sample of found)
        assert.deepEqual(new Set(Object.keys(sample.labels)), new Set(expected), `${name}${end}`);
    }
  }
  const valuesOf = (name: string, label: string) =>
    samples.filter((sample) => sample.name === name).map(({ labels }) => labels[label]);
  assert.deepEqual(valuesOf('service_tokens_total', 'type'), ['prompt', 'completion', 'cache_creation', 'cache_read']);
  assert.deepEqual(valuesOf('service_tool_calls_total', 'tool'), ['list_directory']);
  assert.deepEqual(valuesOf('service_queue_length', 'queue'), ['messages', 'passwords', 'store']);
  const sends = samples.filter(
    ({ name, labels }) => name === 'service_http_request_duration_seconds_bucket' && labels.endpoint === '/v1/api/send',
  );
  assert.deepEqual(
    sends.map(({ labels }) => labels.le),
    BUCKETS,
  );
  const commits = samples.find(({ name }) => name === 'service_store_commit_seconds_count');
  assert.ok(commits && commits.value > 0);
});

/** Only with a store that several daemons share, as in e2e/cluster/standby.test.ts and figures.test.ts. */
const SHARED = [
  ...['service_lease_age_seconds', 'service_lease_epoch', 'service_lease_held'],
  ...['service_forwarded_requests_total', 'service_forwarded_open', 'service_machine_role', 'service_machines'],
  ...['service_machine_versions', 'service_workstreams_waiting', 'service_worker_joined', 'service_bus_connected'],
];

/** The metrics of a scrape, and those of a shared store; a summary or a histogram is one. */
async function exported(): Promise<Set<string>> {
  const text = await (await daemon.fetch('/metrics')).text();
  const own = [...text.matchAll(/^# TYPE (\w+) /gm)].map(([, name = '']) => name);
  assert.deepEqual(
    SHARED.filter((name) => own.includes(name)),
    [],
  );
  return new Set([...own, ...SHARED]);
}

test('the daemon exports every metric that the dashboard and the alert rules name', async () => {
  const known = await exported();
  const named = readMonitoring().expressions.flatMap(selectorsOf);
  const missing = named.filter(({ name, metric }) => !known.has(metric) && !known.has(name) && name !== 'up');
  assert.deepEqual(missing, []);
  const shown = new Set(named.flatMap(({ name, metric }) => [name, metric]));
  const unseen = [...known].filter((name) => name.startsWith('service_') && !shown.has(name));
  assert.deepEqual(unseen, ['service_workstream_info'], 'it only lists the workstreams');
});

test('the table of metrics in the documentation lists exactly what the daemon exports', async () => {
  const page = await readFile(new URL('../../docs/operating.md', import.meta.url), 'utf8');
  const [, table = ''] = /^## Metrics$(.*?)^## /ms.exec(page) ?? [];
  const firstCells = [...table.matchAll(/^\| (`service_.*?) \|/gm)].map(([, cell = '']) => cell);
  const documented = firstCells.flatMap((cell) => cell.match(/service_\w+/g) ?? []);
  const own = [...(await exported())].filter((name) => name.startsWith('service_'));
  assert.deepEqual(new Set(documented), new Set(own));
  assert.equal(documented.length, own.length);
});

test('messages that wait are counted until they are sent', async () => {
  const { ws_id } = (await daemon.post('/v1/api/workstreams/new', {})).body;
  const hold = stall();
  model.when('hold the line', [hold, say('done')]);
  await using stream = await daemon.sse(ws_id);
  const waiting = async () =>
    (await scrape()).find(({ name, labels }) => name === 'service_queue_length' && labels.queue === 'messages')?.value;
  await daemon.post(`/v1/api/workstreams/${ws_id}/send`, { message: 'hold the line' });
  await stream.until(({ data }) => data.state === 'thinking');
  await daemon.post(`/v1/api/workstreams/${ws_id}/send`, { message: 'next' });
  assert.equal(await waiting(), 1);
  hold.release();
  await stream.until(({ data }) => data.type === 'user_turn' && data.message === 'next');
  assert.equal(await waiting(), 0);
});

test('`/health` must have every specified field with its type', async () => {
  const { status, body } = await daemon.get('/health');
  const { workstreams, backend, ...plain } = body;
  const typesOf = (fields: object) =>
    Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, typeof value]));
  assert.equal(status, 200);
  assert.deepEqual(typesOf(plain), {
    status: 'string',
    version: 'string',
    node_id: 'string',
    uptime_seconds: 'number',
    model: 'string',
    max_ws: 'number',
    store: 'object',
    sandbox: 'object',
    mcp: 'object',
    channels: 'object',
  });
  assert.deepEqual(Object.keys(workstreams), ['total', ...STATES]);
  assert.ok(Object.values(workstreams).every(Number.isInteger));
  assert.deepEqual([body.status, backend], ['ok', { status: 'up', circuit_state: 'closed' }]);
});

test('`node_id` must be the host name and four hex digits, the same after a restart', async () => {
  const nodeId = async () => (await daemon.get('/health')).body.node_id;
  const before = await nodeId();
  assert.match(before, /^[^_].*_[0-9a-f]{4}$/);
  await daemon.kill9();
  await daemon.restart();
  assert.equal(await nodeId(), before);
});

test('no series depends on open handles or on garbage collection', async () => {
  const quiet = namesOf(await scrape()).filter((name) => !name.startsWith('service_'));
  const { ws_id } = (await daemon.post('/v1/api/workstreams/new', {})).body;
  await using stream = await daemon.sse(ws_id);
  await stream.until(({ data }) => data.type === 'history');
  await daemon.post('/v1/api/send', { ws_id, message: 'run some code' });
  assert.deepEqual(
    namesOf(await scrape()).filter((name) => !name.startsWith('service_')),
    quiet,
  );
  const kinds = quiet.flatMap((name) => /^nodejs_gc_duration_seconds_count .*"kind":"(\w+)"/.exec(name)?.[1] ?? []);
  assert.deepEqual(kinds, ['incremental', 'major', 'minor', 'weakcb']);
});
