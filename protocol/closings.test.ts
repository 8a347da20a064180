import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CLOSINGS, findClosing } from './closings.ts';

test('every closing is found by its code and reason, so all differ on the wire', () => {
  const found = Object.values(CLOSINGS).map(({ code, reason }) => findClosing(code, reason));
  assert.deepEqual(found, Object.keys(CLOSINGS));
});

test('an unknown reason, or a reason with another code, is not a closing of the gateway', () => {
  for (const [code, reason] of [
    [1006, ''],
    [1008, ''],
    [1011, 'unauthorized'],
    [1008, 'replaced'],
  ] as const)
    assert.equal(findClosing(code, reason), undefined);
});
