import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BUILTIN_ROLES } from '../../../protocol/methods/accounts/permissions.ts';
import { type CallAs, wholeGateway } from '../testing/whole-gateway.ts';

const MEMBER = new Set(BUILTIN_ROLES['builtin-operator'].permissions);
const user = (name: string): CallAs => ({ id: `login of ${name}`, userId: `user_${name}`, permissions: MEMBER });
const [ADA, BOB] = [user('ada'), user('bob')];

test('whoever waits for a run and loses sight of its workstream meanwhile reads nothing of its end', async () => {
  await using gateway = await wholeGateway();
  const { wsId } = await gateway.call('workstream.create', {}, ADA);
  const rest = Promise.withResolvers<string>();
  gateway.puppet.turn(rest.promise);
  const runId = 'of-bob';
  const asked = { message: 'hi', sessionKey: wsId, idempotencyKey: runId };
  const unknown = { code: 'NOT_FOUND', message: 'unknown runId' };
  const started = Promise.withResolvers<unknown>();
  const refusals = [gateway.refusal('agent', asked, { ...BOB, interim: started.resolve })];
  await started.promise;
  refusals.push(gateway.refusal('agent.wait', { runId, withAnswer: true }, BOB));
  refusals.push(gateway.refusal('agent.wait', { runId, sessionKey: wsId }, BOB));
  await gateway.call('workstream.share', { wsId, visibility: 'private' }, ADA);
  rest.resolve('what Ada alone may read');
  assert.deepEqual(await Promise.all(refusals), [unknown, unknown, unknown]);
});
