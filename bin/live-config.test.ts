import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseConfig } from './config.ts';
import { createLiveConfig } from './live-config.ts';

const url = 'https://hooks.example.com/x';
const configOf = (settings: object) => parseConfig(JSON.stringify(settings), 'config.json').config;

function liveOf(settings: object, environment = {}) {
  const levels: string[] = [];
  const setLogLevel = (level: string) => void levels.push(level);
  return { levels, live: createLiveConfig({ config: configOf(settings), environment, setLogLevel }) };
}

test('settings come in the daemon’s units, secrets from the file or the environment', () => {
  const webhook = { a: { url, secret: 'sixteen letters!' }, b: { url, secretEnv: 'B_SECRET' } };
  const { live } = liveOf({ heartbeatMinutes: 5, channels: { webhook } }, { B_SECRET: 'of b' });
  const { approvalMs, heartbeatMs, maxWorkstreams, retentionDays, commandTimeoutSecs } = live;
  assert.deepEqual(
    [approvalMs, heartbeatMs, maxWorkstreams, retentionDays, commandTimeoutSecs, Object.fromEntries(live.webhooks)],
    [3_600_000, 300_000, 50, 30, 120, { a: { url, secret: 'sixteen letters!' }, b: { url, secret: 'of b' } }],
  );
});

test('a change counts at once where it can, and says what waits for a restart', () => {
  const { live, levels } = liveOf({ server: { port: 7000 } });
  const changed = live.apply(
    configOf({
      approvalTimeoutSecs: 60,
      logLevel: 'debug',
      nodes: { '*': { deny: ['file.*'] } },
      server: { maxWorkstreams: 3, inbound: { burst: 10 } },
    }),
  );
  assert.deepEqual(changed, {
    applied: ['approvalTimeoutSecs', 'logLevel', 'nodes.*', 'server.inbound.burst', 'server.maxWorkstreams'],
    restart: ['server.port'],
  });
  assert.deepEqual(
    [live.approvalMs, live.maxWorkstreams, live.inbound, live.nodes, levels],
    [60_000, 3, { burst: 10, perSecond: 50 }, { '*': { deny: ['file.*'] } }, ['debug']],
  );
});

test('what waits for a restart is said again until it is taken back', () => {
  const { live } = liveOf({});
  assert.deepEqual(live.apply(configOf({ durability: 'full' })).restart, ['durability']);
  assert.deepEqual(live.apply(configOf({ durability: 'full', retentionDays: 7 })), {
    ...{ applied: ['retentionDays'], restart: ['durability'] },
  });
  assert.deepEqual(live.apply(configOf({ retentionDays: 7 })), { applied: [], restart: [] });
});

test('a secret that the environment does not have is named, at the start and before a change', () => {
  const settings = { channels: { webhook: { b: { url, secretEnv: 'B_SECRET' } } } };
  const expected = { message: 'channels.webhook.b: the environment has no B_SECRET' };
  assert.throws(() => liveOf(settings), expected);
  assert.throws(() => liveOf({}).live.check(configOf(settings)), expected);
});

test('HEADGATE_SKIP_CRON keeps schedules off, whatever the file says', () => {
  const cronWith = (flag: string, cron: object) => liveOf({ cron }, { HEADGATE_SKIP_CRON: flag }).live.cron;
  const switchedOffBy = ['HEADGATE_SKIP_CRON'];
  assert.deepEqual(
    [cronWith('1', { maxConcurrentRuns: 2 }), cronWith('0', {}).enabled],
    [{ enabled: false, switchedOffBy, maxConcurrentRuns: 2, retentionDays: 90 }, true],
  );
  assert.deepEqual(cronWith('1', { enabled: false }).switchedOffBy, ['cron.enabled', ...switchedOffBy]);
});
