import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judge, trendOf } from './trend.ts';

const line = (...ys: number[]) => trendOf(ys.map((y, x) => ({ x, y })));

test('a straight line has the right slope and no error', () => {
  assert.deepEqual(line(1, 3, 5, 7), { first: 1, last: 7, slope: 2, error: 0 });
});

test('a measurement is judged as growing, flat or unclear against its bound', () => {
  assert.equal(judge(line(0, 10, 20, 31), 5), 'grows');
  assert.equal(judge(line(100, 101, 100, 101, 100, 101), 5), 'flat');
  assert.equal(judge(line(0, 40, 0, 40), 5), 'unclear');
  assert.equal(judge(line(0, 10), 5), 'unclear');
  assert.equal(judge(line(7, 7, 7), 0), 'flat');
});
