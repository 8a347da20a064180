import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openConnection } from './sqlite-connection.ts';

test('a number that could not be read back is not stored', () => {
  const connection = openConnection(':memory:');
  connection.run('create table numbers (n bigint)');
  for (const n of [Number.MAX_SAFE_INTEGER, -1, 0.5, 1e21]) connection.run('insert into numbers values (?)', [n]);
  for (const n of [2 ** 53, -(2 ** 60), 1e18])
    assert.throws(() => connection.run('insert into numbers values (?)', [n]), { name: 'RangeError' });
  assert.deepEqual(
    connection.all('select n from numbers').map(({ n }) => n),
    [Number.MAX_SAFE_INTEGER, -1, 0.5, 1e21],
  );
  connection.close();
});
