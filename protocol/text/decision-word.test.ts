import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DecidedBy } from '../stream-events.ts';
import { decisionWord } from './decision-word.ts';

const ada: DecidedBy = { kind: 'principal', id: 'ada' };
const denied = (by: DecidedBy) => {
  const decision = { approved: false, always: false, by };
  return (['tools', 'outcome', 'budget'] as const).map((question) => decisionWord(question, decision));
};

test('the word for a denial says who or what caused it', () => {
  const words = [ada, ...(['policy', 'timeout', 'cancel', 'shutdown'] as const).map((kind) => ({ kind }))].map(denied);
  assert.deepEqual(words, [
    ['Denied', 'Skipped', 'Stopped at the budget'],
    ['Denied by policy', 'Skipped by policy', 'Stopped by policy'],
    Array(3).fill('Not decided in time'),
    Array(3).fill('Cancelled before a decision'),
    Array(3).fill('Run ended before a decision'),
  ]);
});

test('the word for an approval says what it allows', () => {
  assert.equal(decisionWord('tools', { approved: true, always: false, by: ada }), 'Approved');
  assert.equal(
    decisionWord('tools', { approved: true, always: false, by: { kind: 'judge' } }),
    'Approved by the judge',
  );
  assert.equal(decisionWord('tools', { approved: true, always: true, by: ada }), 'Approved, and from now on always');
  const finer = { approved: true, always: false, by: ada, denied_call_ids: ['c2'] };
  assert.equal(decisionWord('tools', finer), 'Approved in part');
  assert.equal(decisionWord('tools', { ...finer, rule_ids: ['r1'] }), 'Approved in part, with a rule for later calls');
  assert.equal(decisionWord('outcome', { approved: true, always: false, by: ada }), 'Run again');
  assert.equal(decisionWord('budget', { approved: true, always: false, by: ada }), 'Continued beyond the budget');
});
