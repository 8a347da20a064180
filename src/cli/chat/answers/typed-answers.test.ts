import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ApprovalItem } from '../../../../protocol/events/approval-item.ts';
import { type Answering, answerLines, answerTyped, hasQuestions } from './typed-answers.ts';

const item = (callId: string, question?: ApprovalItem['question']): ApprovalItem => ({
  ...{ call_id: callId, header: '', preview: '', func_name: 'ask_user', approval_label: 'ask_user' },
  ...{ needs_approval: true, error: null },
  ...(question && { question }),
});
const question = {
  items: [
    item('bash'),
    item('port', { text: 'Which\nport?', choices: [{ label: '80' }, { label: '443', description: 'TLS' }] }),
    item('name', { text: 'Which name?', choices: [] }),
  ],
};
const start: Answering = { kind: 'answer', approvalId: 'apr_1', given: {} };

test('a number chooses, any other line is the answer, and the last one decides', () => {
  assert.deepEqual(answerLines(question, start), ['Which port?', '  1 80', '  2 443: TLS']);
  const { next } = answerTyped(question, start, '2');
  assert.ok(next);
  assert.deepEqual(answerLines(question, next), ['Which name?']);
  assert.deepEqual(answerTyped(question, next, ' Ada '), {
    decision: {
      approved: true,
      decisions: { port: { approved: true, choice: '443' }, name: { approved: true, answer: 'Ada' } },
    },
  });
  assert.deepEqual(answerTyped(question, start, '3').next?.given, { port: { approved: true, answer: '3' } });
  const { decision } = answerTyped(question, next, '');
  assert.deepEqual(decision?.approved && decision.decisions.name, { approved: true, answer: '' });
});

test('only calls of the agent that ask something have questions', () => {
  assert.deepEqual([hasQuestions(question), hasQuestions({ items: [item('bash')] })], [true, false]);
});

test('words about a plan ask for another one, and none leave it as it is', () => {
  const plan = { content: '## Goal', round: 1, revisions_left: 5 };
  const asked = { items: [{ ...item('call_1'), plan }] };
  assert.equal(hasQuestions(asked), true);
  assert.match(String(answerLines(asked, start)), /^What should change\?/);
  assert.deepEqual(answerTyped(asked, start, ' smaller steps '), {
    decision: { approved: false, feedback: 'smaller steps' },
  });
  assert.deepEqual(answerTyped(asked, start, ' '), {});
});
