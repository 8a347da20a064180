import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ApprovalItem } from '../../../protocol/events/approval-item.ts';
import { type ApproveChoice, decideByPolicy } from './approval-policy.ts';
import { createGivenAnswers } from './given-answers.ts';

const item: ApprovalItem = {
  call_id: 'a',
  header: 'bash: make',
  preview: '',
  func_name: 'bash',
  approval_label: 'bash',
  needs_approval: true,
  error: null,
};

test('--approve all approves calls, but repeats none that is running in circles or may have run', () => {
  const decide = (kind: 'tools' | 'outcome', items: ApprovalItem[]) => {
    const decision = decideByPolicy('all', { kind, items }, { canAsk: true, answers: createGivenAnswers([]) });
    return decision === 'ask' ? decision : decision.approved;
  };
  const repeated = { ...item, repeated: 2 };
  assert.deepEqual(
    [decide('tools', [item]), decide('tools', [item, repeated]), decide('outcome', [item])],
    [true, false, false],
  );
});

test('only a terminal can be asked', () => {
  const decide = (canAsk: boolean) =>
    decideByPolicy('ask', { kind: 'tools', items: [item] }, { canAsk, answers: createGivenAnswers([]) });
  assert.deepEqual([decide(true), decide(false) !== 'ask'], ['ask', true]);
});

test('--approve all rejects a plan, because nobody reads it', () => {
  const plan = { ...item, plan: { content: '## Goal', round: 1, revisions_left: 5 } };
  assert.deepEqual(
    decideByPolicy('all', { kind: 'plan', items: [plan] }, { canAsk: true, answers: createGivenAnswers([]) }),
    {
      approved: false,
      feedback: 'reject',
    },
  );
});

const asked = (callId: string): ApprovalItem => ({
  ...item,
  call_id: callId,
  func_name: 'ask_user',
  question: { text: 'Which?', choices: [{ label: 'red' }, { label: 'blue' }] },
});

test('--answer answers questions in their order, by text or number, and decides nothing else', () => {
  const decide = (choice: ApproveChoice, items: ApprovalItem[], texts: string[]) =>
    decideByPolicy(choice, { kind: 'tools', items }, { canAsk: false, answers: createGivenAnswers(texts) });
  assert.deepEqual(decide('ask', [asked('q1'), asked('q2')], ['2', 'green']), {
    approved: true,
    decisions: { q1: { approved: true, choice: 'blue' }, q2: { approved: true, answer: 'green' } },
  });
  const answered = { q1: { approved: true, answer: 'green' } };
  const refused = 'This run must not do anything that needs approval, because nobody can be asked.';
  assert.deepEqual(decide('ask', [item, asked('q1')], ['green']), {
    approved: false,
    feedback: refused,
    decisions: answered,
  });
  assert.deepEqual(decide('all', [item, asked('q1')], ['green']), { approved: true, decisions: answered });
  assert.deepEqual(decide('all', [asked('q1'), asked('q2')], ['green']), {
    approved: true,
    decisions: {
      ...answered,
      q2: {
        approved: false,
        feedback: 'No answer was prepared for this question, and nobody is there. Decide yourself.',
      },
    },
  });
  for (const choice of ['ask', 'deny', 'all'] as const)
    assert.deepEqual(decide(choice, [asked('q1')], []), {
      approved: false,
      feedback: 'Nobody is there to answer a question. Decide yourself.',
    });
});

test('in a terminal, a prepared answer is used for a question, but a person decides about other calls', () => {
  const decide = (items: ApprovalItem[]) =>
    decideByPolicy('ask', { kind: 'tools', items }, { canAsk: true, answers: createGivenAnswers(['red']) });
  assert.deepEqual(decide([asked('q1')]), { approved: true, decisions: { q1: { approved: true, answer: 'red' } } });
  assert.equal(decide([asked('q1'), item]), 'ask');
});
