import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseConfig } from './config.ts';
import { createLiveConfig, effectOf } from './live-config.ts';

const url = 'https://hooks.example.com/x';
const configOf = (settings: object) => parseConfig(JSON.stringify(settings), 'config.json').config;

function liveOf(settings: object, environment = {}) {
  const levels: string[] = [];
  const setLogLevel = (level: string) => void levels.push(level);
  return { levels, live: createLiveConfig({ config: configOf(settings), environment, setLogLevel }) };
}

test('settings are converted to the daemon’s units, and secrets come from the file or the environment', () => {
  const webhook = { a: { url, secret: 'sixteen letters!' }, b: { url, secretEnv: 'B_SECRET' } };
  const { live } = liveOf({ heartbeatMinutes: 5, channels: { webhook } }, { B_SECRET: 'of b' });
  const { approvalMs, heartbeatMs, maxWorkstreams, retentionDays, commandTimeoutSecs } = live;
  assert.deepEqual(
    [
      approvalMs,
      heartbeatMs,
      maxWorkstreams,
      retentionDays,
      commandTimeoutSecs,
      Object.fromEntries(live.channels.webhooks),
    ],
    [3_600_000, 300_000, 50, 30, 120, { a: { url, secret: 'sixteen letters!' }, b: { url, secret: 'of b' } }],
  );
});

test('a change takes effect at once where possible, and lists the keys that need a restart', () => {
  const { live, levels } = liveOf({ server: { port: 7000 } });
  const changed = live.apply(
    configOf({
      approvalTimeoutSecs: 60,
      hooks: [{ at: 'attention', command: 'tell' }],
      logLevel: 'debug',
      nodes: { '*': { deny: ['file.*'] } },
      server: { maxWorkstreams: 3, inbound: { burst: 10 } },
    }),
  );
  assert.deepEqual(changed, {
    applied: ['approvalTimeoutSecs', 'hooks', 'logLevel', 'nodes.*', 'server.inbound.burst', 'server.maxWorkstreams'],
    restart: ['server.port'],
  });
  assert.deepEqual(
    [live.approvalMs, live.hooks.length, live.maxWorkstreams, live.inbound, live.nodes, levels],
    [60_000, 1, 3, { burst: 10, perSecond: 50 }, { '*': { deny: ['file.*'] } }, ['debug']],
  );
});

test('a change that needs a restart is listed with every change until it is undone', () => {
  const { live } = liveOf({});
  assert.deepEqual(live.apply(configOf({ durability: 'full' })).restart, ['durability']);
  assert.deepEqual(live.apply(configOf({ durability: 'full', retentionDays: 7 })), {
    ...{ applied: ['retentionDays'], restart: ['durability'] },
  });
  assert.deepEqual(live.apply(configOf({ retentionDays: 7 })), { applied: [], restart: [] });
});

test('secrets missing from the environment are reported at the start and before a change', () => {
  const webhook = { b: { url, secretEnv: 'B_SECRET' }, c: { url, secretEnv: 'C_SECRET' }, d: { url, secretEnv: 'D' } };
  const settings = { channels: { webhook } };
  const environment = { C_SECRET: '', D: 'of d' };
  assert.throws(() => liveOf(settings, environment), {
    name: 'StartError',
    message:
      'channels.webhook.b.secretEnv: the environment has no B_SECRET; channels.webhook.c.secretEnv: the environment has no C_SECRET',
  });
  assert.deepEqual(liveOf({}, environment).live.check(configOf(settings)), [
    { path: 'channels.webhook.b.secretEnv', message: 'the environment has no B_SECRET' },
    { path: 'channels.webhook.c.secretEnv', message: 'the environment has no C_SECRET' },
  ]);
});

test('a setting takes effect now or after a restart, and a section can have both kinds', () => {
  const keys = ['server', 'server.port', 'server.inbound', 'server.inbound.burst', 'tools', 'cron.enabled', 'models'];
  assert.deepEqual(keys.map(effectOf), ['mixed', 'restart', 'now', 'now', 'mixed', 'now', 'now']);
});

test('HEADGATE_SKIP_CRON switches schedules off, whatever the file says', () => {
  const cronWith = (flag: string, cron: object) => liveOf({ cron }, { HEADGATE_SKIP_CRON: flag }).live.cron;
  const switchedOffBy = ['HEADGATE_SKIP_CRON'];
  assert.deepEqual(
    [cronWith('1', { maxConcurrentRuns: 2 }), cronWith('0', {}).enabled],
    [{ enabled: false, switchedOffBy, maxConcurrentRuns: 2, retentionDays: 90 }, true],
  );
  assert.deepEqual(cronWith('1', { enabled: false }).switchedOffBy, ['cron.enabled', ...switchedOffBy]);
});

test('a configuration that a part of the daemon refuses changes nothing', () => {
  const levels: string[] = [];
  const live = createLiveConfig({
    config: configOf({ tools: { tier: 'workspace' } }),
    environment: {},
    setLogLevel: (level) => void levels.push(level),
    changes: [
      ({ defaultModel }) => {
        if (defaultModel === 'nope') throw new Error('Unknown model "nope"');
      },
    ],
  });
  const next = {
    defaultModel: 'nope',
    logLevel: 'debug',
    tools: { tier: 'read-only', network: { allow: ['a.example'] } },
  };
  assert.throws(() => live.apply(configOf(next)), /Unknown model/);
  assert.deepEqual([live.sandboxTier, live.allowedHosts, levels], ['workspace', [], []]);
  assert.deepEqual(live.apply(configOf({ ...next, defaultModel: 'demo' })).applied, [
    'defaultModel',
    'logLevel',
    'tools.network.allow',
    'tools.tier',
  ]);
});
