import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resumption } from './resumption.ts';

const LOG = { epoch: 'e1', first: 5, last: 9 };

test('a log continues after any offset whose later events are stored', () => {
  for (const offset of [4, 5, 9]) {
    assert.deepEqual(resumption({ epoch: 'e1', offset }, LOG), { recovered: true, offset });
  }
  assert.deepEqual(resumption({ epoch: 'e1', offset: 0 }, { epoch: 'e1', first: 1, last: 0 }), {
    recovered: true,
    offset: 0,
  });
});

test('reasons against continuing: expired, ahead, or another log, which comes first', () => {
  const reasons = [
    { epoch: 'e1', offset: 3 },
    { epoch: 'e1', offset: 10 },
    { epoch: 'e2', offset: 7 },
    { epoch: 'e2', offset: 99 },
  ].map((cursor) => resumption(cursor, LOG).reason);
  assert.deepEqual(reasons, ['expired', 'ahead', 'epoch', 'epoch']);
});
