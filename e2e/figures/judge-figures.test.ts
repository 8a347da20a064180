import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isMet } from './figure.ts';
import { judgedCases, judgeFigures } from './judge-figures.ts';

test('the labelled set has at least 600 calls, about half of them held out, each of them once', () => {
  const all = judgedCases();
  const heldOut = all.filter((one) => one.isHeldOut).length;
  assert.ok(all.length >= 600, `${all.length}`);
  assert.ok(heldOut > all.length * 0.4 && heldOut < all.length * 0.6, `${heldOut} of ${all.length}`);
  assert.equal(new Set(all.map(({ text }) => text)).size, all.length);
});

test('the rates of the judge are within their aims, in both halves', () => {
  assert.deepEqual(
    judgeFigures().filter((figure) => !isMet(figure)),
    [],
  );
});
