import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StreamEvent } from '../../../../protocol/stream-events.ts';
import { readItem, toWholeItem } from './asked-item.ts';
import type { ApprovalBlock } from './blocks.ts';
import { fold, item } from './conversation-fixture.ts';

const verdict = {
  verdict_id: 'v1',
  call_id: 'c1',
  func_name: 'bash',
  intent_summary: 'Deletes a.',
  risk_level: 'low' as const,
  confidence: 0.9,
  recommendation: 'approve' as const,
  reasoning: 'It is a copy.',
  evidence: ['read a'],
  judge_model: '',
  latency_ms: 0,
};
const rules = {
  ...verdict,
  risk_level: 'high' as const,
  reasoning: 'It deletes a.',
  tier: 'heuristic' as const,
  func_args: '{}',
};
const asked: StreamEvent = {
  type: 'approve_request',
  items: [item('c1', { verdict: rules, heuristic_verdict: rules })],
  approval_id: 'a',
  kind: 'tools',
  judge_pending: true,
  expires_at_ms: 1,
};
const questionAfter = (...events: StreamEvent[]) => fold([asked, ...events]).blocks.at(-1) as ApprovalBlock;

test('the verdict of the model is shown first, and that of the fixed rules stays', () => {
  const late = { type: 'intent_verdict', ...verdict, verdict_id: 'v2', tier: 'llm', judge_model: 'gpt' } as const;
  const [shown] = questionAfter(late).items;
  const verdicts = shown && toWholeItem(readItem(shown)).verdicts;
  assert.deepEqual(verdicts, [
    {
      level: 'low',
      text: 'Low risk: It is a copy.',
      details: ['read a', 'Rated by the model gpt, 90 % sure. Advice: approve it.'],
    },
    {
      level: 'high',
      text: 'High risk: It deletes a.',
      details: ['read a', 'Rated by fixed rules, 90 % sure. Advice: approve it.'],
    },
  ]);
});

test('a model that does not answer changes no verdict, and the question keeps the reason', () => {
  const question = questionAfter({ type: 'judge_state', call_id: 'c1', state: 'timeout', reason: 'it took too long' });
  assert.deepEqual(
    [question.silent, question.heard, question.items[0]?.verdict?.tier],
    ['it took too long', ['c1'], 'heuristic'],
  );
});

test('what comes for a call that nobody asks about changes nothing', () => {
  const question = questionAfter({ type: 'judge_state', call_id: 'other', state: 'unavailable', reason: 'off' });
  assert.deepEqual([question.silent, question.heard], [undefined, undefined]);
});
