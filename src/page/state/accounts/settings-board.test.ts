import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RequestError } from '../../../../protocol/client/request-error.ts';
import { createFakeClient } from '../fake-client.ts';
import { factsOf, SettingsBoard } from './settings-board.ts';

const described = { isSecret: false, restartRequired: false };
const settable = true;
const timeout = { key: 'tools.timeout', type: 'int', description: 'Time limit.', section: 'tools', ...described };
const hosts = {
  ...{ key: 'server.allowedHosts', type: 'list', description: 'Host names.', section: 'server' },
  ...{ isSecret: false, restartRequired: true },
};

async function open() {
  const fake = createFakeClient();
  const stored: Record<string, unknown> = {};
  fake.answer('settings.schema', () => ({
    schema: [
      { ...timeout, settable, configKey: 'tools.timeoutSecs', default: 120, minValue: 1, maxValue: 3_600 },
      { ...hosts, settable, configKey: hosts.key, default: [] },
    ],
  }));
  fake.answer('settings.list', () => ({
    settings: [
      {
        ...timeout,
        value: stored[timeout.key] ?? 120,
        source: timeout.key in stored ? 'storage' : 'default',
        changedBy: '',
      },
      { ...hosts, value: stored[hosts.key] ?? [], source: 'default', changedBy: '' },
    ],
  }));
  fake.answer('settings.set', ({ key, value }: { key: string; value: unknown }) => {
    if (value === 0) throw new RequestError('INVALID_REQUEST', `${key}: must not be below the minimum of 1`);
    stored[key] = value;
    return {};
  });
  const board = new SettingsBoard(fake.client);
  await board.read();
  const [first, second] = board.entries.value ?? [];
  return { ...fake, board, first: first ?? assert.fail(), second: second ?? assert.fail() };
}

test('settings are grouped by section and found by every word of a search', async () => {
  const { board } = await open();
  const names = () => board.sections.map(({ name, entries }) => [name, ...entries.map(({ key }) => key)]);
  assert.deepEqual(names(), [
    ['tools', 'tools.timeout'],
    ['server', 'server.allowedHosts'],
  ]);
  board.query.value = 'LIMIT tools';
  assert.deepEqual(names(), [['tools', 'tools.timeout']]);
  board.query.value = 'timeoutSecs';
  assert.equal(names().length, 1);
  board.query.value = 'nothing';
  assert.deepEqual(names(), []);
});

test('a saved value is typed as its setting needs, and is read again', async () => {
  const { board, first, calls } = await open();
  assert.equal(await board.save(first, '60'), undefined);
  assert.deepEqual(calls.find(([method]) => method === 'settings.set')?.[1], { key: 'tools.timeout', value: 60 });
  assert.equal(board.entries.value?.[0]?.value, 60);
  assert.deepEqual(board.waiting.value, []);
});

test('a value out of range is refused with the rule alone', async () => {
  const { board, first } = await open();
  assert.equal(await board.save(first, '0'), 'must not be below the minimum of 1');
  assert.equal(board.entries.value?.[0]?.value, 120);
});

test('a setting that waits for a restart is named once, and not if a flag replaces it', async () => {
  const { board, second } = await open();
  await board.save({ ...second, source: 'flag' }, 'c.example');
  assert.deepEqual(board.waiting.value, []);
  await board.save(second, 'a.example');
  await board.save(second, 'b.example');
  assert.deepEqual(board.waiting.value, ['server.allowedHosts']);
});

test('the facts say the default, the source and the restart', async () => {
  const { first, second } = await open();
  assert.deepEqual(factsOf(first), ['default: 120']);
  assert.deepEqual(factsOf({ ...second, source: 'flag' }), [
    ...[
      'no default',
      'set by a flag of the daemon, which config.json does not change',
      'takes effect at the next start',
    ],
  ]);
  assert.deepEqual(factsOf({ ...first, isSecret: true, source: 'storage', changedBy: 'ada' }), [
    'set in config.json by ada',
  ]);
});
