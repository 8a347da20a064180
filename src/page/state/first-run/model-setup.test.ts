import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFakeClient } from '../fake-client.ts';
import { ModelSetup } from './model-setup.ts';

const KEY = 'sk-canary';

function setUp(tested: object = { ok: true, name: 'claude', elapsedMs: 1 }) {
  const fake = createFakeClient();
  fake.answer('models.test', () => tested);
  fake.answer('config.get', () => ({ hash: 'h', config: { defaultModel: 'anthropic' } }));
  fake.answer('config.patch', () => ({ ok: true }));
  return { ...fake, setup: new ModelSetup(fake.client) };
}

test('a key is tested, then kept in place of everything that was configured under the name', async () => {
  const { setup, calls } = setUp();
  assert.equal(await setup.keep('anthropic', { provider: 'anthropic', apiKey: KEY }), undefined);
  const entry = { provider: 'anthropic', model: null, baseUrl: null, apiKey: KEY, apiKeyEnv: null };
  assert.deepEqual(calls, [
    ['models.test', { model: 'anthropic', candidate: { provider: 'anthropic', apiKey: KEY } }],
    ['config.get', {}],
    [
      'config.patch',
      { raw: JSON.stringify({ models: { anthropic: entry }, defaultModel: 'anthropic' }), baseHash: 'h' },
    ],
  ]);
  assert.ok(!JSON.stringify(setup).includes(KEY));
});

test('a key that does not work is not kept, and the reason has no key', async () => {
  const problem = { kind: 'unauthorized', text: 'anthropic rejected the key (401).' };
  const { setup, calls } = setUp({ ok: false, elapsedMs: 1, problem });
  const said = (await setup.keep('anthropic', { provider: 'anthropic', apiKey: KEY })) ?? '';
  assert.match(said, /^Nothing was stored\. anthropic rejected the key/);
  assert.deepEqual([calls.length, said.includes(KEY)], [1, false]);
});

test('a removed model is no default any more; a missing right is told', async () => {
  const { setup, calls, answer } = setUp();
  assert.equal(await setup.remove('anthropic'), undefined);
  assert.deepEqual(calls.at(-1), [
    'config.patch',
    { raw: '{"models":{"anthropic":null},"defaultModel":null}', baseHash: 'h' },
  ]);
  answer('models.list', () => {
    throw new Error("Forbidden: missing 'admin.settings' permission");
  });
  assert.match((await setup.discover()) ?? '', /admin\.settings/);
});
