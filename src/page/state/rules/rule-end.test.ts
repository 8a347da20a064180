import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toEndWords } from './rule-end.ts';

test('what is allowed in a workstream ends with its conversation, other rules there with the workstream', () => {
  const hour = { expiresAtMs: 3_600_000 };
  assert.deepEqual(
    [
      toEndWords({ action: 'allow', wsId: 'w' }, 0),
      toEndWords({ action: 'allow', wsId: 'w', ...hour }, 0),
      toEndWords({ action: 'deny', wsId: 'w' }, 0),
      toEndWords({ action: 'ask', wsId: 'w', ...hour }, 0),
      toEndWords({ action: 'allow' }, 0),
      toEndWords({ action: 'allow', ...hour }, 0),
    ],
    [
      'ends with the conversation',
      'ends in 60 minutes, or with the conversation',
      'ends when the workstream is deleted',
      'ends in 60 minutes',
      'no end',
      'ends in 60 minutes',
    ],
  );
});
