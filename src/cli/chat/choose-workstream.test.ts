import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { GatewayClient } from '../../../protocol/client/ws-client.ts';
import { UsageError } from '../../start-error.ts';
import { chooseWorkstream } from './choose-workstream.ts';

const around = { environment: {}, userHome: '/home/ada', cwd: '/srv' };

/** A daemon with one workstream, called garden. */
function open() {
  const made: unknown[] = [];
  const answers: Record<string, unknown> = {
    'workstream.list': { workstreams: [{ wsId: 'w1', name: 'garden', sessionKey: 'k1' }] },
    'workstream.saved': { workstreams: [] },
    'workstream.create': { wsId: 'w2' },
    'chat.history': {},
  };
  const client: Pick<GatewayClient, 'call'> = {
    async call(method, ...[params]) {
      if (method === 'workstream.create') made.push(params);
      return answers[method] as never; // the test follows the method's contract
    },
  };
  return { client, made };
}

test('--workdir and --model create no second workstream of the same name without --new', async () => {
  const { client, made } = open();
  for (const flags of [{ workdir: 'site' }, { model: 'fast' }]) {
    await assert.rejects(chooseWorkstream(client, { ws: 'garden', ...flags }, around), (error) => {
      assert.ok(error instanceof UsageError);
      assert.match(error.message, /^The workstream garden exists, but /);
      return true;
    });
  }
  assert.deepEqual(made, []);
  assert.equal(await chooseWorkstream(client, { ws: 'garden', workdir: 'site', new: true }, around), 'w2');
  assert.equal(await chooseWorkstream(client, { ws: 'shed', model: 'fast' }, around), 'w2');
  assert.deepEqual(made, [
    { name: 'garden', workdir: '/srv/site' },
    { name: 'shed', model: 'fast' },
  ]);
  assert.equal(await chooseWorkstream(client, { ws: 'garden' }, around), 'w1');
});

test('--machine-label names what the machine of a new workstream needs', async () => {
  const { client, made } = open();
  const machineLabel = ['gpu', 'eu'];
  await assert.rejects(chooseWorkstream(client, { ws: 'garden', machineLabel }, around), /--machine-label/);
  await chooseWorkstream(client, { ws: 'shed', machineLabel }, around);
  assert.deepEqual(made, [{ name: 'shed', machineLabels: ['gpu', 'eu'] }]);
});

test('~ in --workdir is the user’s home folder', async () => {
  const { client, made } = open();
  await chooseWorkstream(client, { workdir: '~/src/garden' }, around);
  assert.deepEqual(made, [{ workdir: '/home/ada/src/garden' }]);
});
