import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BUILTIN_ROLES, PERMISSIONS } from '../../../../protocol/methods/accounts/permissions.ts';
import { PERMISSION_GROUPS, toRightsWords } from './permission-words.ts';
import { sectionsFor } from './sections.ts';

test('every permission has its words, once', () => {
  const worded = PERMISSION_GROUPS.flatMap(({ permissions }) => permissions.map(([permission]) => permission));
  assert.deepEqual(worded.toSorted(), [...PERMISSIONS].sort());
});

test('the rights of a person are named after the built-in role that has exactly these', () => {
  assert.equal(toRightsWords(BUILTIN_ROLES['builtin-admin'].permissions).role, 'Administrator');
  assert.deepEqual(toRightsWords(['read']), { role: 'Viewer', allowed: ['See conversations, jobs, nodes and usage'] });
  assert.deepEqual(toRightsWords(['admin.judge']), { role: undefined, allowed: ['Administer the judge'] });
});

test('each part of the account view needs its own permission', () => {
  assert.deepEqual(sectionsFor([]), ['own']);
  assert.deepEqual(sectionsFor(['read', 'write', 'approve']), ['own', 'rules']);
  assert.deepEqual(sectionsFor(['admin.audit', 'admin.users']), ['own', 'users', 'audit']);
  assert.deepEqual(sectionsFor(PERMISSIONS), [
    'own',
    'rules',
    'users',
    'roles',
    'policies',
    'judge',
    'settings',
    'audit',
  ]);
});
