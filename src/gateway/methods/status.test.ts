import assert from 'node:assert/strict';
import { test } from 'node:test';
import { warn } from '../../../protocol/notice.ts';
import { LIVE } from '../testing/default-deps.ts';
import { wholeGateway } from '../testing/whole-gateway.ts';

test('status returns the model, its notices, and the five latest sessions', async () => {
  await using gateway = await wholeGateway();
  for (const key of ['a', 'b', 'c', 'd', 'e']) {
    await gateway.clock.advance(1_000);
    await gateway.call('sessions.patch', { key });
  }
  const { sessions, ...rest } = await gateway.call('status', {});
  assert.deepEqual(rest, {
    web: { linked: false },
    heartbeatSeconds: 0,
    providerSummary: ['puppet: puppet/puppet', 'a puppet'],
    queuedSystemEvents: [],
    channels: [],
  });
  const { recent, ...counted } = sessions;
  assert.deepEqual(counted, {
    path: '/home/ada/.headgate/headgate.db',
    count: 6,
    defaults: { model: 'puppet', contextTokens: null },
  });
  assert.deepEqual(
    recent.map(({ updatedAt }) => updatedAt),
    [1_005_000, 1_004_000, 1_003_000, 1_002_000, 1_001_000],
  );
});

test('status tells how old a session is, how much of its context is used, and its settings', async () => {
  await using gateway = await wholeGateway();
  await gateway.call('sessions.patch', { key: 'main', thinkingLevel: 'high', verboseLevel: 'on' });
  const look = async () => {
    const [row] = (await gateway.call('status', {})).sessions.recent;
    assert.ok(row);
    return row;
  };
  await gateway.clock.advance(2_000);
  const { age, remainingTokens, percentUsed, flags } = await look();
  assert.deepEqual([age, remainingTokens, percentUsed, flags], [2_000, null, null, ['think:high', 'verbose:on']]);
  gateway.puppet.turn('Hi.');
  await (await gateway.accept('hello'))?.ended;
  const { totalTokens = 0, contextTokens = 0, ...used } = await look();
  assert.ok(totalTokens > 0 && contextTokens > 0);
  assert.deepEqual(
    [used.age, used.remainingTokens, used.percentUsed],
    [0, contextTokens - totalTokens, Math.round((totalTokens / contextTokens) * 100)],
  );
});

test('health returns the same sessions as status, including unloaded ones', async () => {
  await using gateway = await wholeGateway({ live: { ...LIVE, maxWorkstreams: 2, heartbeatMs: 90_000 } });
  const compare = async () => {
    const { heartbeatSeconds, sessions } = await gateway.call('status', {});
    const health = await gateway.call('health', {});
    const recent = sessions.recent.map(({ key, updatedAt }) => ({ key, updatedAt, age: 1_010_000 - (updatedAt ?? 0) }));
    const { path, count } = sessions;
    assert.deepEqual(health.sessions, { path, count, recent });
    assert.equal(health.heartbeatSeconds, heartbeatSeconds);
    return [count, ...recent.map(({ key }) => key)];
  };
  for (const key of ['a', 'b', 'c']) {
    await gateway.clock.advance(1_000);
    await gateway.call('sessions.patch', { key });
  }
  await gateway.clock.advance(7_000);
  assert.deepEqual(await compare(), [4, 'c', 'b', 'a', 'main']);
  await gateway.call('sessions.delete', { key: 'b' });
  await gateway.call('agent', { sessionKey: 'a', message: 'here again', idempotencyKey: 'k1' });
  assert.deepEqual(await compare(), [3, 'a', 'c', 'main']);
  await gateway.restart();
  assert.deepEqual(await compare(), [3, 'a', 'c', 'main']);
});

test('health returns the states of the workstreams, and that everything is ok', async () => {
  await using gateway = await wholeGateway({ notSandboxed: 'no bubblewrap' });
  gateway.puppet.turn(new Promise(() => undefined));
  await gateway.call('workstream.create', {});
  const wsId = await gateway.main();
  await gateway.call('workstream.send', { wsId, message: 'go' });
  await gateway.reaches(wsId, 'thinking_start');
  await gateway.clock.advance(1_250);
  assert.deepEqual(await gateway.call('health', {}), {
    ok: true,
    ts: 1_001_250,
    durationMs: 0,
    status: 'ok',
    version: '1.2.3',
    nodeId: 'node',
    uptimeSeconds: 1.3,
    model: 'puppet',
    modelAlias: 'puppet',
    workstreams: { total: 2, idle: 1, thinking: 1, running: 0, attention: 0, error: 0 },
    maxWorkstreams: 50,
    backend: { status: 'up', circuitState: 'closed' },
    store: { status: 'ok' },
    sandbox: { active: false, reason: 'no bubblewrap' },
    mcp: { servers: 0, resources: 0, prompts: 0 },
    web: { linked: false },
    telegram: { configured: false },
    channels: [],
    heartbeatSeconds: 0,
    sessions: {
      path: '/home/ada/.headgate/headgate.db',
      count: 2,
      recent: (await gateway.call('status', {})).sessions.recent.map(({ key }) => ({
        key,
        updatedAt: 1_000_000,
        age: 1_250,
      })),
    },
    notices: [warn('model_unusable', 'a puppet')],
  });
});

test('health and status accept any params', async () => {
  await using gateway = await wholeGateway();
  for (const params of [null, 7, 'all', { probe: true }]) {
    await gateway.call('health', params);
    await gateway.call('status', params);
  }
});
