import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DecidedBy } from '../stream-events.ts';
import { decisionWord } from './decision-word.ts';

const ada: DecidedBy = { kind: 'principal', id: 'ada' };
const denied = (by: DecidedBy) => {
  const decision = { approved: false, always: false, by };
  return [decisionWord('tools', decision), decisionWord('outcome', decision)];
};

test('the word for a denial says who or what caused it', () => {
  const words = [ada, ...(['policy', 'timeout', 'cancel', 'shutdown'] as const).map((kind) => ({ kind }))].map(denied);
  assert.deepEqual(words, [
    ['Denied', 'Skipped'],
    ['Denied by policy', 'Skipped by policy'],
    ['Not decided in time', 'Not decided in time'],
    ['Cancelled before a decision', 'Cancelled before a decision'],
    ['Run ended before a decision', 'Run ended before a decision'],
  ]);
});

test('the word for an approval says what it allows', () => {
  assert.equal(decisionWord('tools', { approved: true, always: false, by: ada }), 'Approved');
  assert.equal(decisionWord('tools', { approved: true, always: true, by: ada }), 'Approved, and from now on always');
  assert.equal(decisionWord('outcome', { approved: true, always: false, by: ada }), 'Run again');
});
