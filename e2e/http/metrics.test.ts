import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openStage } from '../support/daemon/stage.ts';
import { say, stall } from '../support/model/scripted-steps.ts';

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
