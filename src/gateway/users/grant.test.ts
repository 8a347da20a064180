import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Contract, GRANTED } from '../../../protocol/contract.ts';
import { CONTRACTS } from '../../../protocol/index.ts';
import { PERMISSIONS, type Permission } from '../../../protocol/methods/accounts/permissions.ts';
import { wholeGateway } from '../testing/whole-gateway.ts';
import { ALL_PERMISSIONS, effectiveOf } from './grant.ts';

/** The permissions that are effective with a scope, and not with the one before it. */
const addedBy = (scope: (typeof GRANTED)[number]): Permission[] => {
  const scopes = GRANTED.slice(0, GRANTED.indexOf(scope) + 1);
  const before = new Set(effectiveOf({ scopes: new Set(scopes.slice(0, -1)), permissions: ALL_PERMISSIONS }));
  return effectiveOf({ scopes: new Set(scopes), permissions: ALL_PERMISSIONS }).filter((it) => !before.has(it));
};

test('a permission is effective with the lowest scope of the methods that it opens', () => {
  const rows: Contract[] = Object.values(CONTRACTS);
  for (const permission of PERMISSIONS) {
    const opened = rows.filter((row) => [row.permission ?? []].flat().includes(permission));
    const lowest = GRANTED.find((scope) => opened.some((row) => row.scope === scope));
    // It opens the sight of private workstreams, too.
    if (lowest !== undefined && permission !== 'workstreams.all')
      assert.ok(addedBy(lowest).includes(permission), permission);
  }
});

test('whoami lists no permission that the scopes withhold', async () => {
  await using gateway = await wholeGateway();
  const who = (scope: 'read' | 'write' | 'approve') =>
    gateway.call('auth.whoami', {}, { scope, permissions: ALL_PERMISSIONS });
  assert.deepEqual((await who('read')).permissions, ['read', 'workstreams.all']);
  assert.deepEqual((await who('write')).permissions, [
    'read',
    'write',
    'coordinator.trust.send',
    'workstreams.create',
    'workstreams.close',
    'workstreams.all',
  ]);
  assert.deepEqual((await who('approve')).permissions, [...PERMISSIONS]);
});
