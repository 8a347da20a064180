import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { startDaemon } from '../support/daemon/daemon.ts';
import { startScriptedModel } from '../support/model/scripted-model.ts';
import { say } from '../support/model/scripted-steps.ts';

const METADATA = [
  ...['169.254.169.254', '2852039166', '0xa9fea9fe', '[::ffff:169.254.169.254]', '[fd00:ec2::254]', '[fe80::1]'],
  ...['100.100.100.200', '0.0.0.0', '[64:ff9b::169.254.169.254]'],
];
test('models and webhooks cannot reach metadata or link-local addresses', async () => {
  const models = Object.fromEntries(
    METADATA.map((host, index) => [
      `m${index}`,
      { provider: 'openai-compatible', model: 'm', baseUrl: `http://${host}/v1`, apiKey: 'sk-canary' },
    ]),
  );
  const secret = 'sixteen letters!';
  const webhook = Object.fromEntries(METADATA.map((host, index) => [`w${index}`, { url: `http://${host}/`, secret }]));
  await using daemon = await startDaemon({ config: { models, channels: { webhook } } });
  const client = await daemon.client();
  for (const index of METADATA.keys()) {
    const { wsId } = await client.call('workstream.create', { model: `m${index}` });
    const asked = client.call('agent', { sessionKey: wsId, message: 'hello', idempotencyKey: `a${index}` });
    await assert.rejects(asked, { message: /link-local, metadata or reserved address; Headgate never connects to it/ });
    await client.call('send', { to: `w${index}`, provider: 'webhook', message: 'x', idempotencyKey: `s${index}` });
  }
  let summary = '';
  while (!summary.includes(`${METADATA.length} given up`))
    summary = (await client.call('status', {})).providerSummary.join('\n');
  assert.match(summary, /webhook w\d: .*Headgate never connects to it/);
});

test('a configuration change over the wire cannot send environment variables, or a key to another host', async () => {
  await using model = await startScriptedModel();
  await using thief = await startScriptedModel();
  const env = {
    ANTHROPIC_API_KEY: 'canary-maker',
    AWS_SECRET_ACCESS_KEY: 'canary-cloud',
    HEADGATE_KEY_LAB: 'canary-lab',
  };
  const lab = { provider: 'openai-compatible', model: 'm', baseUrl: model.url, apiKeyEnv: 'HEADGATE_KEY_LAB' };
  const own = { provider: 'openai-compatible', model: 'm', baseUrl: model.url, apiKey: 'canary-file' };
  await using daemon = await startDaemon({ env, config: { models: { lab, own } } });
  const client = await daemon.client();
  const file = path.join(daemon.home, 'config.json');
  const before = await readFile(file, 'utf8');
  const stolen = (change: object) => ({ evil: { ...lab, baseUrl: thief.url, ...change } });
  const attempts: Record<string, object> = {
    'a variable of another program': stolen({ apiKeyEnv: 'AWS_SECRET_ACCESS_KEY' }),
    "the maker's key at another host": {
      evil: { provider: 'anthropic', baseUrl: thief.url, apiKeyEnv: 'ANTHROPIC_API_KEY' },
    },
    'a bound variable at another host': stolen({}),
    'the stored key at another host': { own: { baseUrl: thief.url } },
    'the mask of a stored key at another host': {
      evil: { ...own, baseUrl: thief.url, apiKey: '<secret:models.own.apiKey>' },
    },
  };
  for (const [what, models] of Object.entries(attempts)) {
    const { hash = '' } = await client.call('config.get', {});
    const patched = client.call('config.patch', { raw: JSON.stringify({ models }), baseHash: hash });
    await assert.rejects(
      patched,
      { code: 'INVALID_REQUEST', message: /^invalid config: models\.(evil|own)\.apiKey/ },
      what,
    );
  }
  assert.equal(await readFile(file, 'utf8'), before);

  // Removed and added again with another host: the binding of the key survives its entry and the daemon.
  const { hash = '' } = await client.call('config.get', {});
  await client.call('config.patch', { raw: '{ models: { lab: null } }', baseHash: hash });
  await daemon.restart({ env });
  const again = await daemon.client();
  const moved = again.call('config.set', { raw: JSON.stringify({ models: { lab: { ...lab, baseUrl: thief.url } } }) });
  await assert.rejects(moved, {
    code: 'INVALID_REQUEST',
    message: new RegExp(`is the key of ${new URL(model.url).origin}`),
  });

  await again.call('config.set', { raw: JSON.stringify({ models: { lab } }) });
  await daemon.restart({ env });
  model.when('hello', say('hi'));
  const last = await daemon.client();
  const { wsId } = await last.call('workstream.create', { model: 'lab' });
  await last.call('agent', { message: 'hello', sessionKey: wsId, idempotencyKey: 'last' });
  assert.equal(model.requests.at(-1)?.headers.authorization, 'Bearer canary-lab');
  assert.deepEqual([thief.requests, thief.others], [[], []]);
});
