import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Permission } from '../../../../protocol/methods/accounts/permissions.ts';
import { hashOfCode } from '../../channels/chats/pairing-code.ts';
import { askForPairing, readSender } from '../../channels/inbox/sender-rows.ts';
import { type CallAs, wholeGateway } from '../../testing/whole-gateway.ts';

const CODE = 'ABCDE-23456';

/** Somebody with these permissions who administers users. */
const helper = (...permissions: Permission[]): CallAs => ({
  id: 'user:helper',
  userId: 'user_helper',
  permissions: new Set<Permission>(['admin.users', ...permissions]),
});

/** A gateway with an administrator, a viewer, and a person in a chat who waits for approval. */
async function setUp() {
  const it = await wholeGateway();
  const add = async (username: string, role: string) =>
    (await it.call('user.create', { username, displayName: username, password: 'correct horse', roles: [role] }))
      .userId;
  await add('boss', 'builtin-admin');
  await add('vic', 'builtin-viewer');
  const ask = async (senderId: string) => {
    const nowMs = it.clock.now();
    const asked = { channel: 'telegram', senderId, name: 'Somebody', codeHash: hashOfCode(CODE), most: 3 };
    await it.store.commit({ statements: [askForPairing({ ...asked, nowMs, expiresMs: nowMs + 1_000 })] });
  };
  const statusOf = async (senderId: string) => (await readSender(it.store, { channel: 'telegram', senderId }))?.status;
  return Object.assign(it, { ask, statusOf });
}

test('who administers users pairs a chat only with a user, and with the operator, whose rights they hold', async () => {
  await using it = await setUp();
  await it.ask('7');
  const pairing = { channel: 'telegram', code: CODE };
  const toBoss = await it.refusal('channel.pair', { ...pairing, user: 'boss' }, helper('read', 'write'));
  const toOperator = await it.refusal('channel.pair', pairing, helper('read'));
  assert.deepEqual([toBoss.code, toOperator.code, await it.statusOf('7')], ['FORBIDDEN', 'FORBIDDEN', 'pending']);
  await it.call('channel.pair', { ...pairing, user: 'vic' }, helper('read'));
  await it.ask('8');
  await it.call('channel.pair', pairing, helper('read', 'write', 'workstreams.create', 'workstreams.close'));
  assert.deepEqual([await it.statusOf('7'), await it.statusOf('8')], ['approved', 'approved']);
});

test('who administers users ends and restores the chats only of users who may not do more', async () => {
  await using it = await setUp();
  await it.ask('7');
  await it.call('channel.pair', { channel: 'telegram', code: CODE, user: 'boss' });
  const sender = { channel: 'telegram', senderId: '7' };
  const revoking = await it.refusal('channel.revoke', sender, helper('read', 'write'));
  assert.deepEqual([revoking.code, await it.statusOf('7')], ['FORBIDDEN', 'approved']);
  await it.call('channel.revoke', sender);
  const restoring = await it.refusal('channel.restore', sender, helper('read', 'write'));
  assert.deepEqual([restoring.code, await it.statusOf('7')], ['FORBIDDEN', 'revoked']);
  await it.call('channel.restore', sender);
  await it.call('channel.revoke', { channel: 'telegram', senderId: '9' }, helper());
  assert.deepEqual([await it.statusOf('7'), await it.statusOf('9')], ['restored', 'revoked']);
});
