import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wholeGateway } from './testing/whole-gateway.ts';

test('the nouns recover one after another, and heartbeats last', async (t) => {
  await using gateway = await wholeGateway();
  const { attachments, systemEvents, workstreams, heartbeats } = gateway.parts;
  const steps: string[] = [];
  const step = (name: string) => async () => {
    steps.push(`${name} begins`);
    await new Promise(setImmediate);
    steps.push(`${name} ends`);
  };
  t.mock.method(attachments, 'sweep', step('attachments'));
  t.mock.method(systemEvents, 'load', step('system events'));
  t.mock.method(workstreams, 'load', async () => {
    await step('workstreams')();
    return () => [];
  });
  t.mock.method(heartbeats, 'recover', step('heartbeats'));
  await gateway.gateway.recover();
  assert.deepEqual(
    steps,
    ['attachments', 'system events', 'workstreams', 'heartbeats'].flatMap((name) => [`${name} begins`, `${name} ends`]),
  );
});
