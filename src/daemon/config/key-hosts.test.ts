import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { z } from 'zod';
import { isRecord } from '../../../protocol/is-record.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import { recordingLog, tempDir } from '../../testing/temp-store.ts';
import { Config, parseConfig } from './config.ts';
import { openKeyHosts } from './key-hosts.ts';

const EVIL = 'https://evil.example/v1';
const HOST = 'https://llm.example/v1';
const toConfig = (value: object) => parseConfig(JSON.stringify(value), 'config.json').config;
const withModel = (model: object) => toConfig({ models: { m: { provider: 'openai-compatible', ...model } } });

async function setUp(before: object = {}, environment: Record<string, string> = {}) {
  const home = tempDir();
  const open = (config = toConfig(before)) =>
    openKeyHosts({ home: home.path, config, environment, clock: fakeClock(0), log: recordingLog() });
  const hosts = await open();
  const messages = (next: ReturnType<typeof toConfig>, typed: string[] = []) =>
    hosts
      .check(next, { before: toConfig(before), typed: new Set(typed) })
      .map(({ path: place, message }) => `${place}: ${message}`);
  return { home: home.path, hosts, open, messages, [Symbol.dispose]: () => home[Symbol.dispose]() };
}

test('a variable of the daemon that is not a known key cannot be sent anywhere', async () => {
  using world = await setUp();
  for (const env of [
    'PATH',
    'AWS_SECRET_ACCESS_KEY',
    'HEADGATE_TOKEN',
    'headgate_key_x',
    'HEADGATE_KEY_',
    'XHEADGATE_KEY_A',
  ])
    assert.match(
      world.messages(withModel({ baseUrl: HOST, apiKeyEnv: env })).join(),
      /^models\.m\.apiKeyEnv: .* by hand$/,
    );
});

test('a provider’s own key is sent only to that provider', async () => {
  using world = await setUp();
  const anthropic = (baseUrl?: string) =>
    toConfig({ models: { m: { provider: 'anthropic', apiKeyEnv: 'ANTHROPIC_API_KEY', ...(baseUrl && { baseUrl }) } } });
  assert.deepEqual(world.messages(anthropic()), []);
  assert.deepEqual(world.messages(anthropic('https://api.anthropic.com/v1')), []);
  for (const baseUrl of [EVIL, 'http://api.anthropic.com/v1', 'https://api.anthropic.com:8443/v1'])
    assert.equal(world.messages(anthropic(baseUrl)).length, 1, baseUrl);
  assert.equal(world.messages(withModel({ baseUrl: EVIL, apiKeyEnv: 'ANTHROPIC_API_KEY' })).length, 1);
});

test('the key of OPENAI_BASE_URL is sent to that server', async () => {
  using world = await setUp({}, { OPENAI_BASE_URL: HOST });
  assert.deepEqual(world.messages(withModel({ apiKeyEnv: 'OPENAI_API_KEY' })), []);
  assert.equal(world.messages(withModel({ apiKeyEnv: 'OPENAI_API_KEY', baseUrl: EVIL })).length, 1);
});

test('HEADGATE_KEY_ variables are bound to their first host, even after a restart or the removal of the entry', async () => {
  using world = await setUp();
  const first = withModel({ baseUrl: HOST, apiKeyEnv: 'HEADGATE_KEY_A' });
  const moved = withModel({ baseUrl: EVIL, apiKeyEnv: 'HEADGATE_KEY_A' });
  assert.deepEqual(world.messages(first), []);
  await world.hosts.remember(first);
  await world.hosts.remember(toConfig({}));
  assert.match(
    world.messages(moved).join(),
    /^models\.m\.apiKeyEnv: HEADGATE_KEY_A is the key of https:\/\/llm\.example;/,
  );
  const again = await world.open();
  assert.equal(again.check(moved, { before: toConfig({}), typed: new Set() }).length, 1);
  assert.deepEqual(JSON.parse(await readFile(path.join(world.home, 'key-hosts.json'), 'utf8')), {
    HEADGATE_KEY_A: ['https://llm.example'],
  });
});

test('a file edited by hand may use any variable with any host', async () => {
  const before = { models: { m: { provider: 'openai-compatible', baseUrl: HOST, apiKeyEnv: 'WORK_KEY' } } };
  using world = await setUp(before);
  assert.deepEqual(world.messages(toConfig({ ...before, retentionDays: 3 })), []);
  assert.equal(world.messages(withModel({ baseUrl: EVIL, apiKeyEnv: 'WORK_KEY' })).length, 1);
  const byHand = await world.open(withModel({ baseUrl: EVIL, apiKeyEnv: 'HEADGATE_KEY_A' }));
  const moved = withModel({ baseUrl: HOST, apiKeyEnv: 'HEADGATE_KEY_A' });
  assert.equal(byHand.check(moved, { before: toConfig({}), typed: new Set() }).length, 1);
});

test('a stored key or secret cannot be sent to another host by writing its mask back', async () => {
  const before = {
    models: { m: { provider: 'openai-compatible', baseUrl: HOST, apiKey: 'sk-1' } },
    channels: { webhook: { ops: { url: HOST, secret: 'sixteen letters!' } } },
  };
  using world = await setUp(before);
  const stolen = toConfig({
    models: { m: { provider: 'openai-compatible', baseUrl: EVIL, apiKey: 'sk-1' } },
    channels: { webhook: { ops: { url: EVIL, secret: 'sixteen letters!' } } },
  });
  assert.deepEqual(
    world.messages(stolen).map((line) => line.split(';')[0]),
    [
      'models.m.apiKey: the stored key is for https://llm.example',
      'channels.webhook.ops.secret: the stored key is for https://llm.example',
    ],
  );
  assert.deepEqual(world.messages(stolen, ['sk-1', 'sixteen letters!']), []);
  assert.deepEqual(world.messages(withModel({ baseUrl: `${HOST}/other/path`, apiKey: 'sk-1' })), []);
});

test('the secret of the login provider is sent to nobody else', async () => {
  const oidc = { issuer: 'https://sso.example.com/realm', clientId: 'c', clientSecretEnv: 'HEADGATE_KEY_SSO' };
  using world = await setUp({ oidc });
  const model = (fields: object) =>
    toConfig({ oidc, models: { m: { provider: 'openai-compatible', baseUrl: HOST, ...fields } } });
  assert.match(
    world.messages(model({ apiKeyEnv: 'HEADGATE_KEY_SSO' })).join(),
    /^models\.m\.apiKeyEnv: HEADGATE_KEY_SSO is the key of https:\/\/sso\.example\.com; /,
  );
  assert.deepEqual(world.messages(toConfig({ oidc })), []);
});

test('the key of the judge is sent only to the server it is configured for', async () => {
  const judge = { provider: 'openai-compatible', baseUrl: HOST, apiKey: 'sk-judge' };
  using world = await setUp({ judge });
  assert.deepEqual(world.messages(toConfig({ judge: { ...judge, timeoutSecs: 5 } })), []);
  const moved = toConfig({ judge: { ...judge, baseUrl: EVIL } });
  assert.deepEqual(world.messages(moved), [
    'judge.apiKey: the stored key is for https://llm.example; enter the key again to use it with https://evil.example',
  ]);
  assert.deepEqual(world.messages(moved, ['sk-judge']), []);
  const other = toConfig({ judge: { baseUrl: EVIL, apiKeyEnv: 'AWS_SECRET_ACCESS_KEY' } });
  assert.match(world.messages(other).join(), /^judge\.apiKeyEnv: .* by hand$/);
});

test('the key of the search service stays with its server', async () => {
  const search = (settings: object) => toConfig({ tools: { search: settings } });
  using world = await setUp({ tools: { search: { provider: 'tavily', url: HOST, apiKey: 'stored' } } });
  const evil = { provider: 'tavily', url: EVIL };
  assert.deepEqual(world.messages(search({ provider: 'brave' })), []);
  assert.deepEqual(world.messages(search({ ...evil, apiKeyEnv: 'HEADGATE_KEY_S' })), []);
  assert.deepEqual(world.messages(search({ ...evil, apiKey: 'typed' }), ['typed']), []);
  assert.match(world.messages(search({ ...evil, apiKey: 'stored' })).join(), /^tools\.search\.apiKey: the stored key/);
  assert.match(
    world.messages(search({ ...evil, apiKeyEnv: 'TAVILY_API_KEY' })).join(),
    /^tools\.search\.apiKeyEnv: TAVILY_API_KEY cannot be used/,
  );
});

test('the token of a topic stays with its server', async () => {
  const topic = (settings: object) => toConfig({ channels: { ntfy: { phone: settings } } });
  using world = await setUp({ channels: { ntfy: { phone: { url: `${HOST}/topic`, token: 'tk_stored' } } } });
  assert.match(
    world.messages(topic({ url: EVIL, tokenEnv: 'ANTHROPIC_API_KEY' })).join(),
    /^channels\.ntfy\.phone\.tokenEnv: ANTHROPIC_API_KEY cannot be used/,
  );
  const moved = topic({ url: EVIL, token: 'tk_stored' });
  assert.match(world.messages(moved).join(), /^channels\.ntfy\.phone\.token: the stored key is for https:\/\/llm/);
  assert.deepEqual(world.messages(moved, ['tk_stored']), []);
  assert.deepEqual(world.messages(topic({ url: `${HOST}/other`, token: 'tk_stored' })), []);
  assert.deepEqual(world.messages(topic({ url: EVIL, tokenEnv: 'HEADGATE_KEY_N' })), []);
});

test('every setting that names a variable is bound to a host, or its value is sent to nobody', async () => {
  const url = `${EVIL}/x`;
  const variable = 'AWS_SECRET_ACCESS_KEY';
  const bound: Record<string, object> = {
    'models.*.apiKeyEnv': { models: { m: { provider: 'openai-compatible', baseUrl: url, apiKeyEnv: variable } } },
    'judge.apiKeyEnv': { judge: { baseUrl: url, apiKeyEnv: variable } },
    'oidc.clientSecretEnv': { oidc: { issuer: url, clientId: 'c', clientSecretEnv: variable } },
    'tools.search.apiKeyEnv': { tools: { search: { provider: 'tavily', url, apiKeyEnv: variable } } },
    'channels.webhook.*.secretEnv': { channels: { webhook: { w: { url, secretEnv: variable } } } },
    'channels.ntfy.*.tokenEnv': { channels: { ntfy: { n: { url, tokenEnv: variable } } } },
    'channels.telegram.botTokenEnv': { channels: { telegram: { botTokenEnv: variable } } },
    'channels.whatsapp.accessTokenEnv': {
      channels: {
        whatsapp: {
          ...{ phoneNumberId: '1', accessTokenEnv: variable },
          ...{ appSecretEnv: 'HEADGATE_KEY_S', verifyTokenEnv: 'HEADGATE_KEY_V' },
        },
      },
    },
  };
  const unsent = ['channels.whatsapp.appSecretEnv', 'channels.whatsapp.verifyTokenEnv'];
  const schema = z.toJSONSchema(Config, { io: 'input', unrepresentable: 'any' });
  const named = [...new Set(settingsOf(schema, ''))].filter((setting) => setting.endsWith('Env'));
  assert.deepEqual(new Set(named), new Set([...Object.keys(bound), ...unsent]));
  using world = await setUp();
  for (const [setting, config] of Object.entries(bound))
    assert.match(world.messages(toConfig(config)).join(), /AWS_SECRET_ACCESS_KEY cannot be used/, setting);
});

/** The names of all settings; `*` stands for a name that people choose. */
function settingsOf(schema: unknown, place: string): string[] {
  if (!isRecord(schema)) return [];
  const properties = isRecord(schema.properties) ? Object.entries(schema.properties) : [];
  const choices = [schema.anyOf, schema.oneOf, schema.allOf].flatMap((some) => (Array.isArray(some) ? some : []));
  return [
    ...properties.flatMap(([name, inner]) => [`${place}${name}`, ...settingsOf(inner, `${place}${name}.`)]),
    ...settingsOf(schema.additionalProperties, `${place}*.`),
    ...choices.flatMap((choice) => settingsOf(choice, place)),
  ];
}
