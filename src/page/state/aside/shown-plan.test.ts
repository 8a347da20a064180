import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Block } from '../conversation/blocks.ts';
import { askApproval, emptyTool } from '../conversation/tool-blocks.ts';
import { findPlan } from './shown-plan.ts';

const call: Block = emptyTool({ call_id: 'c1', name: 'plan_agent' }, 'k');

/** The question about a plan of the call. */
const asked = (blocks: readonly Block[], approvalId: string, preview: string) =>
  askApproval(blocks, {
    key: approvalId,
    approvalId,
    question: 'plan',
    items: [
      {
        call_id: 'c1',
        func_name: 'plan_agent',
        approval_label: 'plan_agent',
        header: 'plan_agent',
        preview,
        needs_approval: true,
        error: null,
      },
    ],
    expiresAtMs: 0,
  });

test('the latest question about a plan is shown, before and after the answer; after a reload, the result', () => {
  assert.equal(findPlan([call], 'c1'), undefined);
  const twice = asked(asked([call], 'a1', 'First'), 'a2', 'Second');
  assert.deepEqual(findPlan(twice, 'c1'), { text: 'Second', isAsked: true });
  const decision = { approved: true, always: false, feedback: '', by: { kind: 'timeout' } } as const;
  const decided = twice.map((block): Block => (block.kind === 'approval' ? { ...block, decision } : block));
  assert.deepEqual(findPlan(decided, 'c1'), { text: 'Second', isAsked: false });
  assert.equal(findPlan(decided, 'other'), undefined);
  assert.deepEqual(findPlan([{ ...call, result: 'Approved: Second' }], 'c1'), {
    text: 'Approved: Second',
    isAsked: false,
  });
});
