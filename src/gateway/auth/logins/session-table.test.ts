import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Parent } from '../parent.ts';
import { SessionTable } from './session-table.ts';

const OPERATOR: Parent = { kind: 'operator', id: 'operator' };
const of = (userId?: string): { parent: Parent; principal: { userId?: string } } => ({
  parent: OPERATOR,
  principal: userId === undefined ? {} : { userId },
});
const holder = (userId?: string) => ({ parent: OPERATOR, userId });
const LIMITS = { most: 5, mostOfOne: 2 };

test('the oldest session of a user with too many makes room, otherwise the oldest of all', () => {
  const table = new SessionTable([
    ['operator', of()],
    ['ada-1', of('ada')],
    ['ada-2', of('ada')],
    ['bob-1', of('bob')],
  ]);
  assert.deepEqual(
    [
      table.oneTooMany(holder('ada'), LIMITS),
      table.oneTooMany(holder('bob'), LIMITS),
      table.oneTooMany(holder(), LIMITS),
    ],
    ['ada-1', undefined, undefined],
  );
  table.add('bob-2', of('bob'));
  assert.deepEqual(
    [table.oneTooMany(holder('eve'), LIMITS), table.oneTooMany(holder(), LIMITS)],
    ['operator', 'operator'],
  );
  table.remove('ada-1');
  table.remove('nobody');
  assert.deepEqual(
    [table.size, table.ofUser('ada').map(([jti]) => jti), table.ofUser('eve'), table.oneTooMany(holder('ada'), LIMITS)],
    [4, ['ada-2'], [], undefined],
  );
});

test('the sessions below a token without a user are counted per token, those of the operator are not', () => {
  const token = (id: string): { parent: Parent; principal: { userId?: string } } => ({
    parent: { kind: 'token', id },
    principal: {},
  });
  const table = new SessionTable([
    ['operator-1', of()],
    ['operator-2', of()],
    ['one-1', token('one')],
    ['one-2', token('one')],
  ]);
  const found = [token('one'), token('two'), of()].map(({ parent }) => table.oneTooMany({ parent }, LIMITS));
  assert.deepEqual(found, ['one-1', undefined, undefined]);
});
