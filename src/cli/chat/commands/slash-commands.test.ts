import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settled } from '../../../../protocol/client/testing/fake-timers.ts';
import type { GatewayClient } from '../../../../protocol/client/ws-client.ts';
import { createCommandFinder } from './slash-commands.ts';

function open() {
  const calls: string[] = [];
  const models = [
    { id: 'fast', name: 'fast-1', provider: 'maker' },
    { id: 'far', name: '', provider: 'other' },
  ];
  const client: Pick<GatewayClient, 'call'> = {
    async call(method, ..._params) {
      calls.push(method);
      return { models, commands: [] } as never; // the test follows the methods' contracts
    },
  };
  const finder = createCommandFinder({ client, wsId: 'w', onChange: () => undefined });
  return { calls, find: (line: string) => finder.find(line).map(({ name, usage }) => [name, usage]) };
}

test('after "/model ", the aliases of the models are offered, and read once per line', async () => {
  const { calls, find } = open();
  assert.deepEqual(find('/model'), []);
  assert.deepEqual(find('/model '), []);
  await settled();
  assert.deepEqual(find('/model '), [
    ['/model fast', 'fast'],
    ['/model far', 'far'],
  ]);
  assert.deepEqual(find('/model fas'), [['/model fast', 'fast']]);
  assert.deepEqual(find('/model fast'), []);
  assert.deepEqual(calls, ['models.list']);
  find('');
  find('/model ');
  assert.deepEqual(calls, ['models.list', 'models.list']);
});

test('after "/effort ", the efforts are offered; before it, only the command', () => {
  const { calls, find } = open();
  assert.deepEqual(
    find('/eff').map(([name]) => name),
    ['/effort'],
  );
  assert.deepEqual(find('/effort'), []);
  assert.deepEqual(
    find('/effort ').map(([, usage]) => usage),
    ['low', 'medium', 'high'],
  );
  assert.deepEqual(find('/effort m'), [['/effort medium', 'medium']]);
  assert.deepEqual(calls, []);
});

test('after "/undo ", its words are offered; a path is typed, and nothing is offered in its place', () => {
  const { find } = open();
  assert.deepEqual(find('/und'), [['/undo', '/undo [keep | overwrite | PATH]']]);
  assert.deepEqual(
    find('/undo ').map(([name]) => name),
    ['/undo keep', '/undo overwrite'],
  );
  for (const path of ['src/a.ts', 'docs', './keep']) assert.deepEqual(find(`/undo ${path}`), [], path);
});
