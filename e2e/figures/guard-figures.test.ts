import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readOutputs } from '../outputs/read-outputs.ts';
import { isHeldOut, isMet } from './figure.ts';
import { guardFigures } from './guard-figures.ts';

test('the labelled set has at least 400 outputs and 200 harmless ones, about half of them held out, each of them once', () => {
  const outputs = readOutputs();
  const harmless = outputs.filter(({ label }) => label === 'harmless').length;
  const heldOut = outputs.filter(({ written }) => isHeldOut(written)).length;
  assert.ok(outputs.length - harmless >= 300 && harmless >= 200, `${harmless} of ${outputs.length}`);
  assert.ok(heldOut > outputs.length * 0.4 && heldOut < outputs.length * 0.6, `${heldOut}`);
  assert.equal(new Set(outputs.map(({ written }) => written)).size, outputs.length);
  const labelled = outputs.filter(({ label, secrets }) => label === 'secret' && secrets.length === 0);
  assert.deepEqual(labelled, []);
});

test('the rates of the output guard are within their aims, in both halves', async () => {
  assert.deepEqual(
    (await guardFigures()).filter((figure) => !isMet(figure)),
    [],
  );
});
