import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toAllowedPlace, toDropPlace, toPlaceWords, withMoved } from './queue-order.ts';

const queue = [{ runId: 's', steer: true as const }, { runId: 'a' }, { runId: 'b' }, { runId: 'c' }];

test('a message moves within those that are sent like it, and one that waits no more does not', () => {
  const places = ([runId, to]: [string, number]) => toAllowedPlace(queue, runId, to);
  const asked: [string, number][] = [
    ['a', 0],
    ['a', 2],
    ['a', 99],
    ['s', 3],
    ['s', -1],
    ['gone', 1],
  ];
  assert.deepEqual(asked.map(places), [1, 2, 3, 0, 0, undefined]);
});

test('a moved message has its place, and the others keep their order', () => {
  const order = (runId: string, to: number) =>
    withMoved(queue, runId, to)
      .map((one) => one.runId)
      .join('');
  assert.deepEqual([order('c', 1), order('a', 3), order('b', 2), order('gone', 1)], ['scab', 'sbca', 'sabc', 'sabc']);
});

test('a message that is dropped goes between those whose middles are above and below', () => {
  const middles = [10, 30, 50];
  assert.deepEqual(
    [
      [0, 5],
      [0, 35],
      [0, 99],
      [2, 0],
      [2, 35],
      [1, 31],
    ].map(([from = 0, y = 0]) => toDropPlace(middles, from, y)),
    [0, 1, 2, 0, 2, 1],
  );
});

test('what is said counts from one', () => {
  assert.deepEqual([toPlaceWords(1, 4, true), toPlaceWords(0, 4, false)], ['Moved to 2 of 4.', 'It stays 1 of 4.']);
});
