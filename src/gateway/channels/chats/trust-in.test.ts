import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Permission } from '../../../../protocol/methods/accounts/permissions.ts';
import { tempStore } from '../../../testing/temp-store.ts';
import type { Bounds } from '../../auth/lineage.ts';
import { toGrant } from '../../users/grant.ts';
import { putChat } from '../inbox/chat-rows.ts';
import { approveSender, askForPairing } from '../inbox/sender-rows.ts';
import type { ChatSettings } from './chat-settings.ts';
import { trustIn } from './trust-in.ts';

const settings: ChatSettings = {
  ...{ dmPolicy: 'allowlist', session: 'chat', ambiguous: 'once' },
  ...{ allowFrom: new Set(['7']), approvers: new Set(['7']) },
  groups: new Map([['-5', { allowFrom: new Set(['8']), requireMention: true }]]),
};

const users = { boundsOf: () => undefined };

const CASES = [
  ['7', { chat: '7', kind: 'dm' }, 'approver'],
  ['8', { chat: '8', kind: 'dm' }, undefined],
  ['8', { chat: '-5', kind: 'group' }, 'allowed'],
  ['8', { chat: '-5:12', kind: 'group' }, 'allowed'],
  ['7', { chat: '-5:12', kind: 'group' }, undefined],
  ['8', { chat: '-6', kind: 'group' }, undefined],
] as const;

for (const [senderId, chat, expected] of CASES)
  test(`person ${senderId} in the ${chat.kind} chat ${chat.chat} may be ${expected ?? 'nothing'}`, async () => {
    await using store = await tempStore();
    const person = { channel: 'telegram', senderId, chat };
    assert.equal(await trustIn(person, { settings, store, users }), expected);
    assert.equal(await trustIn(person, { settings: undefined, store, users }), undefined);
  });

test('the rules for a group stay those of its first number', async () => {
  await using store = await tempStore();
  const moved = { channel: 'telegram', chat: '-1007', kind: 'group' as const, session_key: 'telegram:group:-5' };
  const times = { last_in_ms: null, last_out_ms: null, created_ms: 1 };
  await store.commit({
    statements: [putChat({ ...moved, ...times, ws_id: 'w', title: '', last_sender: '8', owes_notice: 0 })],
  });
  const trust = (senderId: string, chat: string) =>
    trustIn({ channel: 'telegram', senderId, chat: { chat, kind: 'group' } }, { settings, store, users });
  assert.deepEqual(
    [await trust('8', '-1007'), await trust('8', '-1007:2'), await trust('7', '-1007'), await trust('8', '-1008')],
    ['allowed', 'allowed', undefined, undefined],
  );
});

test('a person whose user is disabled or deleted may do nothing, and one whose user may not decide is no approver', async () => {
  await using store = await tempStore();
  const bounds = new Map<string, Bounds>();
  const pairing = { codeHash: 'h', nowMs: 1 };
  const ada = { channel: 'telegram', senderId: '7' };
  await store.commit({
    statements: [
      askForPairing({ ...ada, ...pairing, name: 'Ada', expiresMs: 2, most: 3 }),
      approveSender(ada, { ...pairing, userId: 'user_ada', by: 'operator' }),
    ],
  });
  const given = (...permissions: Permission[]) =>
    bounds.set('user_ada', { ...toGrant(new Set(permissions)), expiresAtMs: undefined, userId: 'user_ada' });
  const trust = () =>
    trustIn(
      { ...ada, chat: { chat: '7', kind: 'dm' } },
      { settings, store, users: { boundsOf: (userId) => bounds.get(userId) } },
    );
  assert.equal(await trust(), undefined);
  given('read', 'write', 'approve');
  assert.equal(await trust(), 'approver');
  given('read', 'write');
  assert.equal(await trust(), 'allowed');
});
