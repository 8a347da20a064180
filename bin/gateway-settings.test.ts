import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseConfig } from './config.ts';
import { gatewaySettings } from './gateway-settings.ts';

const settingsOf = (channels: object, environment = {}) => {
  const { config } = parseConfig(JSON.stringify({ heartbeatMinutes: 5, channels }), 'config.json');
  return gatewaySettings({ config, environment });
};
const url = 'https://hooks.example.com/x';

test('settings come in the gateway’s units, secrets from the file or the environment', () => {
  const webhook = { a: { url, secret: 'sixteen letters!' }, b: { url, secretEnv: 'B_SECRET' } };
  const { webhooks, approvalMs, heartbeatMs, maxWorkstreams } = settingsOf({ webhook }, { B_SECRET: 'of b' });
  assert.deepEqual(
    { destinations: Object.fromEntries(webhooks.destinations), approvalMs, heartbeatMs, maxWorkstreams },
    {
      destinations: { a: { url, secret: 'sixteen letters!' }, b: { url, secret: 'of b' } },
      ...{ approvalMs: 3_600_000, heartbeatMs: 300_000, maxWorkstreams: 50 },
    },
  );
});

test('a secret that the environment does not have stops the start and is named', () => {
  const webhook = { b: { url, secretEnv: 'B_SECRET' } };
  assert.throws(() => settingsOf({ webhook }), { message: 'channels.webhook.b: the environment has no B_SECRET' });
});
