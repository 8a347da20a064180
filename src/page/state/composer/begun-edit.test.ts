import assert from 'node:assert/strict';
import { test } from 'node:test';
import { begunEditOf } from './begun-edit.ts';

test('what was begun at a message is there again, in its tab only', () => {
  const [tab, other] = [{}, {}];
  begunEditOf(tab, { seq: 1 }).value = 'half a thought';
  const found = [
    begunEditOf(tab, { seq: 1 }),
    begunEditOf(tab, { seq: 2 }),
    begunEditOf(tab, { runId: '1' }),
    begunEditOf(other, { seq: 1 }),
  ];
  assert.deepEqual(
    found.map(({ value }) => value),
    ['half a thought', undefined, undefined, undefined],
  );
});
