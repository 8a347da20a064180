import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fold, lines, snapshot } from './conversation-fixture.ts';

const compacted = { type: 'compacted', to_seq: 2, messages: 2, summary: 'They talked.' } as const;

test('a summary for the model is a fold below the messages that it stands for, and resets the token count', () => {
  const status = { prompt_tokens: 9, completion_tokens: 1, total_tokens: 10, context_window: 12, pct: 83.3 };
  const more = { effort: 'medium', cache_creation_tokens: 0, cache_read_tokens: 0 } as const;
  const now = fold([
    { type: 'user_turn', message: 'hi', run_id: 'r1', source: 'person', seq: 1 },
    { type: 'status', ...status, ...more },
    compacted,
  ]);
  assert.deepEqual([lines(now), now.status], [['user: hi', 'summary of 2: They talked.'], undefined]);
});

test('a summary that came with the snapshot is not shown twice', () => {
  const note = { after_seq: 2, created_ms: 1, kind: 'compacted', messages: 2, summary: 'They talked.' } as const;
  const now = fold([compacted], snapshot({ notes: [note] }));
  assert.deepEqual(
    lines(now).filter((line) => line.startsWith('summary')),
    ['summary of 2: They talked.'],
  );
});
