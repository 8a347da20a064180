import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withNumbers } from './placeholders.ts';

test('placeholders are numbered, and question marks of texts and names stay', () => {
  assert.deepEqual(
    [
      `select ?, ? where a = ?`,
      `update t set a = ?2, b = ?1 where c = ?2`,
      `select ?2, ?, ?1`,
      `select '?''?', "a?""b" from t where x = ? -- really?`,
      `select ? where a in () and b not in ('in ()')`,
      `select 1 where a NOT IN ()`,
      'select 1',
    ].map(withNumbers),
    [
      'select $1, $2 where a = $3',
      'update t set a = $2, b = $1 where c = $2',
      'select $2, $3, $1',
      `select '?''?', "a?""b" from t where x = $1 -- really?`,
      `select $1 where a = any ('{}') and b not in ('in ()')`,
      `select 1 where a <> all ('{}')`,
      'select 1',
    ],
  );
});
