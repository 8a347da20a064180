import assert from 'node:assert/strict';
import { test } from 'node:test';
import { warn } from '../../protocol/notice.ts';
import { toBanner } from './banner.ts';

const facts: Parameters<typeof toBanner>[0] = {
  version: '1.2.3',
  home: '/home/ann/.headgate',
  daemon: {
    url: 'http://localhost:7717',
    model: { alias: 'fast', provider: 'openai-compatible', modelId: 'qwen3' },
    workdir: '/home/ann/.headgate/workspace',
    notices: [],
    notSandboxed: undefined,
  },
  link: { url: 'http://localhost:7717/#login=abc', expiresAtMs: new Date(2026, 10, 20, 9, 5).getTime() },
  linkCommand: 'headgate link',
};

/** The text after each name. */
const rowsOf = (banner: string) =>
  Object.fromEntries([...banner.matchAll(/^ {2}(\w+) +(.*)$/gm)].map(([, name, text]) => [name, text]));

test('the banner shows the link, how to log in again, the model, the folders and the sandbox', () => {
  assert.equal(
    toBanner(facts),
    [
      '',
      'Headgate 1.2.3',
      '',
      '  Open     http://localhost:7717/#login=abc',
      '  Login    the link works once, until 09:05; another one: headgate link',
      '  Model    fast (openai-compatible/qwen3)',
      '  Home     /home/ann/.headgate',
      '  Folder   /home/ann/.headgate/workspace (the agent works here)',
      '  Sandbox  on: commands see the system read-only and no homes, and reach allowed hosts only',
      '',
      '',
    ].join('\n'),
  );
});

test('without authentication, it shows the plain address and explains the consequence', () => {
  const rows = rowsOf(toBanner({ ...facts, link: undefined }));
  assert.equal(rows.Open, 'http://localhost:7717');
  assert.match(rows.Login ?? '', /^not needed/);
});

test('it says why commands are not sandboxed', () => {
  const daemon = { ...facts.daemon, notSandboxed: 'bubblewrap is not installed' };
  assert.equal(rowsOf(toBanner({ ...facts, daemon })).Sandbox, 'off: bubblewrap is not installed');
});

test('a model without an alias is named once, and the demo is explained', () => {
  const model = (alias: string, provider: string, modelId: string) =>
    rowsOf(toBanner({ ...facts, daemon: { ...facts.daemon, model: { alias, provider, modelId } } })).Model;
  assert.equal(model('openai/gpt', 'openai', 'gpt'), 'openai/gpt');
  assert.equal(model('openai-compatible', 'openai-compatible', ''), 'openai-compatible');
  assert.equal(model('demo', 'demo', 'demo'), 'demo (built in, no language model)');
});

test('notices come at the end', () => {
  const daemon = {
    ...facts.daemon,
    notices: [warn('model_key_missing', 'The key is missing.'), warn('program_unsafe', 'And more.')],
  };
  assert.match(toBanner({ ...facts, daemon }), /\n {2}Note {5}The key is missing\.\n {2}Note {5}And more\.\n\n$/);
});
