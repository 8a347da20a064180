import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Scope } from '../../../protocol/contract.ts';
import { type CallAs, wholeGateway } from '../testing/whole-gateway.ts';
import { ALL_PERMISSIONS } from './grant.ts';

/** A token of an administrator, with fewer scopes than its user. */
const token = (scope: Scope): CallAs => ({
  id: 'token:t',
  userId: 'user_boss',
  scope,
  permissions: ALL_PERMISSIONS,
  source: { kind: 'token', tokenId: 't' },
});

test('a token with fewer scopes than its user does not administer memories that wait', async () => {
  await using it = await wholeGateway();
  const memory = { name: 'hers', content: 'kestrel', description: '', scope: 'user', scopeId: 'user_ada' } as const;
  await it.memories.quarantine.add(
    { ...memory, type: { type: 'project', isDefault: true } },
    { by: 'agent', isTrusted: false, wsId: await it.main(), callId: 'call', taint: { kind: 'network', target: 'x' } },
  );
  const listed = async (as: CallAs) =>
    (await it.call('memory.quarantine.list', {}, as)).memories.map(({ name }) => name);
  assert.deepEqual(await listed(token('read')), []);
  const [waiting] = (await it.call('memory.quarantine.list', {}, token('approve'))).memories;
  assert.equal(waiting?.name, 'hers');
  const discarding = await it.refusal('memory.quarantine.discard', { memoryId: waiting.memoryId }, token('write'));
  assert.deepEqual([discarding.code, await listed(token('approve'))], ['NOT_FOUND', ['hers']]);
});

test('a token with fewer scopes than its user neither looks for servers of models nor tries another one', async () => {
  await using it = await wholeGateway();
  const candidate = { provider: 'openai-compatible', model: 'm', baseUrl: 'http://127.0.0.1:1/v1' };
  const refused = [
    await it.refusal('models.list', { discover: true }, token('read')),
    await it.refusal('models.test', { model: 'm', candidate }, token('write')),
  ];
  assert.deepEqual(
    refused.map(({ code }) => code),
    ['FORBIDDEN', 'FORBIDDEN'],
  );
});
