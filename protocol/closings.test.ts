import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CLOSINGS, findClosing } from './closings.ts';

test('every closing is found again by its code and reason, so no two are alike on the wire', () => {
  const found = Object.values(CLOSINGS).map(({ code, reason }) => findClosing(code, reason));
  assert.deepEqual(found, Object.keys(CLOSINGS));
});

test('a reason under another code, or an unknown one, is no closing of the gateway', () => {
  for (const [code, reason] of [
    [1006, ''],
    [1008, ''],
    [1011, 'unauthorized'],
    [1008, 'replaced'],
  ] as const)
    assert.equal(findClosing(code, reason), undefined);
});
