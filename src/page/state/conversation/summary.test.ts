import assert from 'node:assert/strict';
import { test } from 'node:test';
import { foldEvent } from './conversation.ts';
import { fold, lines, snapshot } from './conversation-fixture.ts';
import { applyFold, findSummaryFold } from './summary-fold.ts';

const compacted = { type: 'compacted', to_seq: 2, messages: 2, summary: 'They talked.' } as const;

test('a summary for the model is a fold below the messages that it stands for, and resets the token count', () => {
  const status = { prompt_tokens: 9, completion_tokens: 1, total_tokens: 10, context_window: 12, pct: 83.3 };
  const more = { effort: 'medium', cache_creation_tokens: 0, cache_read_tokens: 0 } as const;
  const now = fold([
    { type: 'user_turn', message: 'hi', run_id: 'r1', source: 'person', seq: 1 },
    { type: 'status', ...status, ...more },
    compacted,
  ]);
  assert.deepEqual([lines(now), now.status], [['user: hi', 'summary to 2: They talked.'], undefined]);
});

test('a summary that came with the snapshot is not shown twice', () => {
  const note = {
    after_seq: 2,
    created_ms: 1,
    kind: 'compacted',
    to_seq: 2,
    messages: 2,
    summary: 'They talked.',
  } as const;
  const now = fold([compacted], snapshot({ notes: [note] }));
  assert.deepEqual(
    lines(now).filter((line) => line.startsWith('summary')),
    ['summary to 2: They talked.'],
  );
});

const asked = (seq: number) =>
  ({ type: 'user_turn', message: `q${seq}`, run_id: `r${seq}`, source: 'person', seq }) as const;
const answered = (text: string) => [{ type: 'content', text } as const, { type: 'stream_end' } as const];
/** Three questions with their answers, summarized to a message. */
const summarized = (...summaries: number[]) =>
  fold([
    ...[asked(1), ...answered('a2'), asked(3), ...answered('a4'), asked(5), ...answered('a6')],
    ...summaries.map((to_seq) => ({ ...compacted, to_seq, summary: `S${to_seq}` })),
  ]);
const shown = (now: ReturnType<typeof fold>, isOpen: boolean) =>
  lines({ ...now, blocks: applyFold(now.blocks, findSummaryFold(now.blocks), isOpen) });

test('a summary stands in place of its messages, or below them while the fold is open', () => {
  const now = summarized(4);
  assert.deepEqual(shown(now, false), ['summary to 4: S4', 'user: q5', 'answer a6']);
  assert.deepEqual(shown(now, true), [
    ...['user: q1', 'answer a2', 'user: q3', 'answer a4'],
    ...['summary to 4: S4', 'user: q5', 'answer a6'],
  ]);
});

test('a turn that a summary includes in part stays in view', () => {
  assert.deepEqual(shown(summarized(3), false), [
    ...['summary to 3: S3', 'user: q3', 'answer a4'],
    ...['user: q5', 'answer a6'],
  ]);
  assert.deepEqual(shown(summarized(6), false), ['summary to 6: S6', 'user: q5', 'answer a6']);
});

test('only the latest summary is shown; a rewind to before it shows all messages again', () => {
  const now = summarized(2, 4);
  assert.deepEqual(shown(now, true).at(4), 'summary to 4: S4');
  assert.equal(shown(now, true).length, 7);
  const back = foldEvent(now, { type: 'rewound', after_seq: 4, reason: 'rewind' });
  assert.deepEqual(shown(back, false), ['user: q1', 'answer a2', 'user: q3', 'answer a4']);
});
