import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SessionTable } from './session-table.ts';

const of = (userId?: string) => ({ principal: userId === undefined ? {} : { userId } });
const LIMITS = { most: 5, mostOfUser: 2 };

test('the oldest session of a user with too many makes room, otherwise the oldest of all', () => {
  const table = new SessionTable([
    ['operator', of()],
    ['ada-1', of('ada')],
    ['ada-2', of('ada')],
    ['bob-1', of('bob')],
  ]);
  assert.deepEqual(
    [table.oneTooMany('ada', LIMITS), table.oneTooMany('bob', LIMITS), table.oneTooMany(undefined, LIMITS)],
    ['ada-1', undefined, undefined],
  );
  table.add('bob-2', of('bob'));
  assert.deepEqual([table.oneTooMany('eve', LIMITS), table.oneTooMany(undefined, LIMITS)], ['operator', 'operator']);
  table.remove('ada-1');
  table.remove('nobody');
  assert.deepEqual(
    [table.size, table.ofUser('ada').map(([jti]) => jti), table.ofUser('eve'), table.oneTooMany('ada', LIMITS)],
    [4, ['ada-2'], [], undefined],
  );
});
