import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Permission } from '../../../protocol/methods/accounts/permissions.ts';
import type { ServedMethod } from '../call.ts';
import { type CallAs, callerOf, wholeGateway } from '../testing/whole-gateway.ts';

/** Someone who may talk, but neither create nor close workstreams. */
const TALKER: CallAs = { scope: 'write', permissions: new Set<Permission>(['read', 'write']) };

test('whatever would make a workstream needs workstreams.create, and makes none', async () => {
  await using gateway = await wholeGateway();
  const wsId = await gateway.main();
  await gateway.accept('hi');
  await gateway.isIdle(wsId);
  const { conversation } = (await gateway.call('workstream.export', { wsId })) as { conversation?: object };
  const before = await gateway.store.db.selectFrom('workstreams').select('ws_id').execute();
  const making: [ServedMethod, object][] = [
    ['workstream.create', {}],
    ['workstream.import', { conversation }],
    ['workstream.fork', { wsId }],
    ['agent', { message: 'hi', sessionKey: 'mine', idempotencyKey: 'k-1' }],
    ['chat.send', { message: 'hi', sessionKey: 'mine', idempotencyKey: 'k-2' }],
    ['sessions.patch', { key: 'mine', thinkingLevel: 'low' }],
  ];
  const missing = { code: 'FORBIDDEN', message: "Forbidden: missing 'workstreams.create' permission" };
  for (const [method, params] of making)
    assert.deepEqual(await gateway.refusal(method, params, TALKER), missing, method);
  const { error } = await gateway.call('workstream.command', { wsId, command: '/fork' }, TALKER);
  assert.equal(error, missing.message);
  assert.deepEqual(await gateway.store.db.selectFrom('workstreams').select('ws_id').execute(), before);
  // Workstreams that are there can be used.
  for (const [method, params] of [
    ['chat.send', { message: 'hi', sessionKey: 'main', idempotencyKey: 'k-3' }],
    ['sessions.patch', { key: wsId, thinkingLevel: 'low' }],
  ] as const)
    await gateway.gateway.dispatch(method, params, callerOf(TALKER));
});

test('a closed workstream is opened again by a message only with workstreams.create', async () => {
  await using gateway = await wholeGateway();
  const { wsId } = await gateway.call('workstream.create', {});
  await gateway.call('workstream.close', { wsId });
  const message = { message: 'hi', sessionKey: wsId, idempotencyKey: 'k-1' };
  const missing = { code: 'FORBIDDEN', message: "Forbidden: missing 'workstreams.create' permission" };
  assert.deepEqual(await gateway.refusal('chat.send', message, TALKER), missing);
  const readLoaded = () =>
    gateway.store.db.selectFrom('workstreams').select('loaded').where('ws_id', '=', wsId).executeTakeFirstOrThrow();
  assert.deepEqual(await readLoaded(), { loaded: 0 });
  await gateway.call('chat.send', { ...message, idempotencyKey: 'k-2' });
  assert.deepEqual(await readLoaded(), { loaded: 1 });
});

test('whatever would close a workstream needs workstreams.close', async () => {
  await using gateway = await wholeGateway();
  const { wsId } = await gateway.call('workstream.create', {});
  const missing = { code: 'FORBIDDEN', message: "Forbidden: missing 'workstreams.close' permission" };
  assert.deepEqual(await gateway.refusal('workstream.close', { wsId }, TALKER), missing);
  const keeping = { key: wsId, deleteTranscript: false };
  const deleter: CallAs = { permissions: new Set<Permission>(['read', 'write', 'approve']) };
  assert.deepEqual(await gateway.refusal('sessions.delete', keeping, deleter), missing);
  const { sessions } = await gateway.call('sessions.list', {});
  assert.ok(sessions.some(({ sessionId }) => sessionId === wsId));
});
