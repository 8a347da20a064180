import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parsePlace, resumption, truncation } from './resumption.ts';

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

test('only an expired cursor shows how many events are lost', () => {
  const told = (text: string) => {
    const place = parsePlace(text);
    const { lost_count, earliest_available_id } = truncation(resumption(place ?? assert.fail(text), LOG), LOG);
    return [lost_count, earliest_available_id];
  };
  assert.deepEqual(['e1:1', 'e1:3', 'e1:0', 'e1:-7', 'e1:10', 'e2:7'].map(told), [
    [3, 'e1:5'],
    [1, 'e1:5'],
    [4, 'e1:5'],
    [4, 'e1:5'],
    [0, 'e1:5'],
    [0, 'e1:5'],
  ]);
});

test('a negative offset is a place, and expired even in a whole log; other texts are none', () => {
  assert.equal(resumption(parsePlace('e1:-1') ?? assert.fail(), { epoch: 'e1', first: 1, last: 9 }).reason, 'expired');
  for (const text of [undefined, '', '-1', '7', 'e1:-0', 'e1:--1', 'e1:-', 'e1:-1x'])
    assert.equal(parsePlace(text), undefined);
});
