import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isHeldOut, isMet, toFigures, wilson } from './figure.ts';

const round = (n: number, hits: number) => Object.values(wilson(n, hits)).map((each) => Number(each.toFixed(4)));

test("Wilson's interval is that of the literature", () => {
  assert.deepEqual(round(10, 5), [0.5, 0.2366, 0.7634]);
  assert.deepEqual(round(500, 0), [0, 0, 0.0076]);
  assert.deepEqual(round(500, 25), [0.05, 0.0341, 0.0728]);
  assert.deepEqual(round(20, 20), [1, 0.8389, 1]);
});

test('a set is split into about equal halves by the texts alone', () => {
  const texts = Array.from({ length: 1_000 }, (_, index) => `grep -n ${index} file`);
  const held = texts.filter(isHeldOut).length;
  assert.ok(held > 400 && held < 600, `${held}`);
  const figures = toFigures(texts, { set: 's', what: 'w', aim: 0.5, text: (each) => each, isHit: isHeldOut });
  assert.deepEqual(
    figures.map(({ half, n, hits }) => [half, n, hits]),
    [
      ['all', 1_000, held],
      ['seen', 1_000 - held, 0],
      ['held out', held, held],
    ],
  );
  assert.deepEqual(figures.map(isMet), [held <= 500, true, false]);
});
