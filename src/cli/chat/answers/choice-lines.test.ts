import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPaint } from '../../terminal/paint.ts';
import type { Question } from '../../terminal/question-lines.ts';
import { toChoiceLines } from './choice-lines.ts';

const paint = createPaint(false);
const question: Question = {
  approvalId: 'a1',
  kind: 'tools',
  items: [
    {
      call_id: 'c1',
      header: 'bash: npm test',
      preview: 'npm test',
      func_name: 'bash',
      approval_label: 'bash',
      needs_approval: true,
      error: null,
    },
  ],
};

test('keys that do not fit into a row have rows of their own, so that every one can be read', () => {
  const lines = (columns: number) =>
    toChoiceLines({ question, mode: { kind: 'message' }, isTyping: false }, { paint, columns });
  assert.deepEqual(lines(80), ['y approve · n deny · f with a remark · a always · v view all']);
  assert.deepEqual(lines(40), ['y approve · n deny · f with a remark', 'a always · v view all']);
});
