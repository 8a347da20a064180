import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { after, test } from 'node:test';
import { runHeadgate, startDaemon } from '../support/daemon/daemon.ts';

const daemon = await startDaemon({
  config: { models: { spare: { provider: 'openai', model: 'gpt', apiKey: 'sk-1234' } } },
});
after(() => daemon[Symbol.asyncDispose]());
const settings = (...words: string[]) => runHeadgate(['settings', ...words], { HEADGATE_HOME: daemon.home });
const stored = async () => JSON.parse(await readFile(path.join(daemon.home, 'config.json'), 'utf8'));

test('settings are listed and found by words, and secrets stay hidden', async () => {
  const { code, stdout } = await settings();
  assert.equal(code, 0);
  assert.match(stdout, /^tools\.timeout +120 +default$/m);
  assert.match(stdout, /^models +\*\*\* +config\.json$/m);
  assert.ok(!stdout.includes('sk-1234'));
  const found = await settings('list', '--search', 'COMMAND time', '--json');
  assert.deepEqual(
    JSON.parse(found.stdout).map(({ key }: { key: string }) => key),
    ['tools.timeout', 'tools.background.maxSecs'],
  );
  const none = await settings('list', '--search', 'xyzzy');
  assert.deepEqual([none.code, none.stdout, none.stderr], [0, '', 'No setting matches.\n']);
});

test('a setting is read, changed under either name, and reset', async () => {
  const before = await settings('get', 'tools.timeoutSecs');
  assert.deepEqual([before.code, before.stdout], [0, '120\n']);
  assert.match(before.stderr, /from: default; default: 120; 1 to 3600/);
  const set = await settings('set', 'tools.timeout', '60');
  assert.deepEqual([set.code, set.stderr], [0, 'tools.timeout is stored in config.json and in effect.\n']);
  assert.equal((await stored()).tools.timeoutSecs, 60);
  assert.equal((await settings('get', 'tools.timeout')).stdout, '60\n');
  const unset = await settings('unset', 'tools.timeout');
  assert.deepEqual(
    [unset.code, unset.stderr],
    [0, 'tools.timeout is removed from config.json and in effect. Its default is 120.\n'],
  );
  const again = await settings('unset', 'tools.timeout');
  assert.deepEqual([again.code, /not found in storage/.test(again.stderr)], [1, true]);
});

test('lists, texts and the need of a restart', async () => {
  const { code, stderr } = await settings('set', 'server.allowedHosts', 'a.example, b.example');
  assert.deepEqual([code, /takes effect at the next start of Headgate/.test(stderr)], [0, true]);
  assert.deepEqual((await stored()).server.allowedHosts, ['a.example', 'b.example']);
  const { schema } = await (await daemon.client()).call('settings.schema', {});
  const json = JSON.parse((await settings('get', 'server.allowedHosts', '--json')).stdout);
  assert.deepEqual([json.value, schema.length > 20], [['a.example', 'b.example'], true]);
});

test('bad input is refused with the rule, and changes nothing', async () => {
  const before = await stored();
  const cases: [string[], RegExp, number][] = [
    [['set', 'tools.timeout', '0'], /must not be below the minimum of 1/, 1],
    [['set', 'tools.timeout', 'soon'], /must be a whole number/, 1],
    [['set', 'models', '{}'], /Secret settings cannot be modified/, 1],
    [['set', 'tool.timeout', '5'], /Unknown setting "tool\.timeout"\. Similar: .*tools\.timeout/, 1],
    [['get', 'nothing.at.all'], /List them with: headgate settings list|Similar/, 1],
    [['set', 'tools.timeout'], /missing required argument/, 2],
    [['change'], /unknown command 'change' \(available: list, get, set, unset\)/, 2],
  ];
  for (const [words, said, expected] of cases) {
    const { code, stdout, stderr } = await settings(...words);
    assert.deepEqual([code, stdout], [expected, ''], `${words}: ${stderr}`);
    assert.match(stderr, said);
  }
  assert.deepEqual(await stored(), before);
});
