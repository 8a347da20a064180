import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GatewayError } from '../../../protocol/errors.ts';
import { recordingLog } from '../../testing/temp-store.ts';
import { turnsUntil, wholeGateway } from '../testing/whole-gateway.ts';
import type { ConnectedNode } from './connected-nodes.ts';
import { createInvocations } from './invocations.ts';

test('an unsent command is sent by a repeat only if it is still allowed', async () => {
  await using gateway = await wholeGateway();
  const sent: unknown[] = [];
  const here: ConnectedNode = {
    ...{
      nodeId: 'n1',
      caps: [],
      process: undefined,
      address: '',
      client: { name: 'box', version: '1', platform: 'linux', mode: 'node' },
    },
    link: { send: (_, payload) => void sent.push(payload), close: () => undefined, isAlive: async () => true },
  };
  let isAllowed = true;
  let found = [here, undefined]; // it disconnects while the command is stored
  const invocations = createInvocations({
    store: gateway.store,
    connected: { find: () => (found.length > 1 ? found.shift() : found[0]), watch: () => () => undefined },
    paired: { revocationOf: () => new AbortController().signal },
    clean: (text: string) => text,
    checkAllowed: (_, command) => {
      if (!isAllowed) throw new GatewayError('INVALID_REQUEST', `not allowed: ${command}`);
    },
    clock: gateway.clock,
    ids: { id: () => 'inv1' },
    log: recordingLog(),
  });
  const { signal } = new AbortController();
  const asked = { nodeId: 'n1', command: 'camera.snap', params: undefined, timeoutMs: 0, key: 'k1' };
  await assert.rejects(invocations.start(asked, signal), { code: 'UNAVAILABLE', message: 'node not connected (n1)' });
  found = [here];
  isAllowed = false;
  await assert.rejects(invocations.resume('inv1', signal), { message: 'not allowed: camera.snap' });
  assert.deepEqual(sent, []);
  isAllowed = true;
  const answers = Promise.all([invocations.resume('inv1', signal), invocations.resume('inv1', signal)]);
  await turnsUntil(() => sent.length === 1, 'the command');
  await invocations.finish('n1', { id: 'inv1', nodeId: 'n1', ok: true, payload: 1 });
  assert.deepEqual(
    (await answers).map(({ payload }) => payload),
    [1, 1],
  );
  assert.equal(sent.length, 1);
});
