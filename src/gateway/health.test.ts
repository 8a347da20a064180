import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ChannelHealthRow } from '../../protocol/methods/channels/channel.ts';
import type { HealthSummary } from '../../protocol/methods/health.ts';
import { type Notice, warn } from '../../protocol/notice.ts';
import { NO_TOOL_SERVERS } from '../agent/mcp/no-servers-fixture.ts';
import type { BackendHealth } from '../agent/providers/model.ts';
import { fakeClock } from '../testing/fake-clock.ts';
import { Health, type Served } from './health.ts';
import type { Look } from './metrics/health-samples.ts';

const DAMAGED = warn('changes_lost', 'a file was damaged');

function setUp() {
  const clock = fakeClock(1_000_000);
  const backend: BackendHealth = { status: 'up', circuitState: 'closed' };
  const store: { status: 'ok' | 'degraded'; reason?: string } = { status: 'ok' };
  const notices: Notice[] = [];
  const channels: ChannelHealthRow[] = [];
  const looks: Look[] = [];
  const others: Served[] = [];
  const published: [HealthSummary['status'], number][] = [];
  const health: Health = new Health({
    version: '1',
    nodeId: 'node',
    models: {
      current: () => ({ alias: 'a', modelId: 'm' }),
      health: () => ({ ...backend }),
      notices: () => [...notices],
    },
    startNotices: [DAMAGED],
    store: { health: () => ({ ...store }) },
    notSandboxed: undefined,
    live: { maxWorkstreams: 50 },
    states: () => ['idle', 'error', 'idle'],
    others: () => others,
    sessions: { known: () => ({ count: 0, newest: [] }) },
    toolServers: NO_TOOL_SERVERS,
    channels: { look: async () => undefined, rows: () => [...channels], notices: () => [] },
    storePath: '/home/ada/.headgate/headgate.db',
    heartbeats: { everySeconds: 0 },
    samples: { note: (look) => void looks.push(look), list: () => [] },
    publish: ({ status }) => void published.push([status, health.version()]),
    clock,
  });
  return { clock, backend, store, notices, channels, health, published, looks, others };
}

/** The running service, and `[status, version]` of its published summaries. */
function running({ health, published }: ReturnType<typeof setUp>) {
  const stop = new AbortController();
  const ended = health.run(stop.signal);
  return { published, stop: () => stop.abort(), ended };
}

test('the daemon is degraded while its model or its disk is', () => {
  const { backend, store, health } = setUp();
  const status = () => health.summary().status;
  assert.equal(status(), 'ok');
  backend.status = 'down';
  assert.equal(status(), 'degraded');
  backend.status = 'up';
  store.status = 'degraded';
  assert.equal(status(), 'degraded');
  assert.deepEqual(health.summary().sandbox, { active: true });
  assert.deepEqual(health.summary().notices, [DAMAGED]);
  assert.deepEqual(health.summary().workstreams, {
    total: 3,
    idle: 2,
    thinking: 0,
    running: 0,
    attention: 0,
    error: 1,
  });
});

test('a summary is published at the start and every minute, each with its own version', async () => {
  const parts = setUp();
  const { published, stop, ended } = running(parts);
  await parts.clock.advance(0);
  assert.deepEqual(published, [['ok', 2]]);
  await parts.clock.advance(59_999);
  assert.equal(published.length, 1);
  await parts.clock.advance(1);
  await parts.clock.advance(60_000);
  assert.deepEqual(published, [
    ['ok', 2],
    ['ok', 3],
    ['ok', 4],
  ]);
  stop();
  await ended;
});

test('each look is kept for the history, with how late it came', async () => {
  const parts = setUp();
  const { stop, ended } = running(parts);
  await parts.clock.advance(0);
  parts.backend.circuitState = 'open';
  await parts.clock.advance(2_000);
  assert.deepEqual(parts.looks, [
    { lateMs: 0, circuit: 'closed', store: 'ok' },
    { lateMs: 0, circuit: 'open', store: 'ok' },
  ]);
  stop();
  await ended;
});

test('an important change is published within two seconds, a shorter flap is not', async () => {
  const parts = setUp();
  const { published, stop, ended } = running(parts);
  await parts.clock.advance(0);
  parts.backend.status = 'down';
  await parts.clock.advance(1_000);
  parts.backend.status = 'up';
  await parts.clock.advance(1_000);
  assert.equal(published.length, 1);
  parts.store.status = 'degraded';
  await parts.clock.advance(2_000);
  parts.notices.push(warn('model_key_missing', 'a key is missing'));
  await parts.clock.advance(2_000);
  parts.channels.push({ channel: 'telegram', state: 'connecting', sinceMs: 5, backlog: 0, waiting: 0 });
  await parts.clock.advance(2_000);
  assert.deepEqual(published, [
    ['ok', 2],
    ['degraded', 3],
    ['degraded', 4],
    ['degraded', 5],
  ]);
  assert.equal(parts.health.summary().telegram.configured, true);
  stop();
  await ended;
});

test('the workstreams of workers count, but not as those of this machine', () => {
  const { health, others } = setUp();
  const own = {
    workstreams: { total: 3, idle: 2, thinking: 0, running: 0, attention: 0, error: 1 },
    maxWorkstreams: 50,
  };
  others.push(
    { workstreams: { total: 4, idle: 0, thinking: 1, running: 2, attention: 1, error: 0 }, maxWorkstreams: 20 },
    { workstreams: { total: 1, idle: 1, thinking: 0, running: 0, attention: 0, error: 0 }, maxWorkstreams: 10 },
  );
  const { workstreams, maxWorkstreams } = health.summary();
  assert.deepEqual(workstreams, { total: 8, idle: 3, thinking: 1, running: 2, attention: 1, error: 1 });
  assert.equal(maxWorkstreams, 80);
  assert.deepEqual(health.here(), own);
});
