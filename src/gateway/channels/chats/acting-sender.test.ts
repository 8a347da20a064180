import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Permission } from '../../../../protocol/methods/accounts/permissions.ts';
import { toGrant } from '../../users/grant.ts';
import { actAs } from './acting-sender.ts';

const times = { code_hash: null, code_expires_ms: null, replied_ms: null, created_ms: 1, updated_ms: 1 };
const known = { channel: 'telegram', sender_id: '7', status: 'approved', name: 'Ada', user_id: 'user_ada' } as const;

/** A person whom the configuration lists as an approver, linked to a user with these permissions. */
const approver = (...permissions: Permission[]) =>
  actAs(
    { channel: 'telegram', senderId: '7' },
    {
      known: { ...known, ...times, decided_by: null },
      settings: { approvers: new Set(['7']) },
      users: { boundsOf: () => ({ ...toGrant(permissions), expiresAtMs: undefined, userId: 'user_ada' }) },
    },
  );

test('the words of an approver in a chat count as such only if their user may decide about calls', () => {
  const told = [approver('read', 'write', 'admin.usage'), approver('read', 'write', 'tools.approve', 'admin.usage')];
  assert.deepEqual(
    told.map((by) => [by?.rights, by?.mayApprove]),
    [
      ['write', false],
      ['approve', true],
    ],
  );
});
