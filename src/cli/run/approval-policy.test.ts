import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ApprovalItem } from '../../../protocol/events/approval-item.ts';
import { decideByPolicy } from './approval-policy.ts';

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
    const decision = decideByPolicy('all', { kind, items }, { canAsk: true });
    return decision === 'ask' ? decision : decision.approved;
  };
  const repeated = { ...item, repeated: 2 };
  assert.deepEqual(
    [decide('tools', [item]), decide('tools', [item, repeated]), decide('outcome', [item])],
    [true, false, false],
  );
});

test('only a terminal can be asked', () => {
  const decide = (canAsk: boolean) => decideByPolicy('ask', { kind: 'tools', items: [item] }, { canAsk });
  assert.deepEqual([decide(true), decide(false) !== 'ask'], ['ask', true]);
});

test('--approve all rejects a plan, because nobody reads it', () => {
  const plan = { ...item, plan: { content: '## Goal', round: 1, revisions_left: 5 } };
  assert.deepEqual(decideByPolicy('all', { kind: 'plan', items: [plan] }, { canAsk: true }), {
    approved: false,
    feedback: 'reject',
  });
});
