import assert from 'node:assert/strict';
import { test } from 'node:test';
import { begunAnswerOf } from './begun-answer.ts';

test('what was begun at a question is there when its card comes again, for the same person', () => {
  const desk = {};
  begunAnswerOf(desk, 'a').denied.value = ['c1'];
  begunAnswerOf(desk, 'b').answers.value = { c2: { text: 'Ada' } };
  begunAnswerOf(desk, 'b').reason.value = 'half a reason';
  assert.deepEqual(begunAnswerOf(desk, 'a').denied.value, ['c1']);
  assert.equal(begunAnswerOf(desk, 'b').reason.value, 'half a reason');
  assert.deepEqual(begunAnswerOf({}, 'a').denied.value, []);
});

test('only the latest questions are remembered', () => {
  const desk = {};
  begunAnswerOf(desk, 'first').denied.value = ['c1'];
  for (let index = 0; index < 50; index += 1) begunAnswerOf(desk, `q${index}`);
  assert.deepEqual(begunAnswerOf(desk, 'first').denied.value, []);
});
