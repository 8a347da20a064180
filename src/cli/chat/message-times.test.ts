import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StreamEvent } from '../../../protocol/stream-events.ts';
import { createMarkdownStream } from '../terminal/markdown-stream.ts';
import { createPaint } from '../terminal/paint.ts';
import { IDLE_SNAPSHOT } from './idle-snapshot-fixture.ts';
import { createTranscript } from './logged-transcript.ts';

const TODAY = Date.UTC(2026, 11, 24, 18, 5);
const sheet = () => ({ paint: createPaint(false), columns: 80 });

/** A transcript on a terminal or over pipes, and its printed lines. */
function open(isInteractive: boolean) {
  const lines: string[] = [];
  const transcript = createTranscript({
    screen: { rows: 24, columns: 80, print: (printed) => void lines.push(...printed), retract: () => false },
    sheet,
    here: () => ({ nowMs: TODAY, tz: 'Europe/Berlin' }),
    isInteractive,
    grow: () => createMarkdownStream(sheet),
    isMyRun: () => false,
    isMyDecision: () => false,
  });
  const tell = (...events: StreamEvent[]) => {
    for (const event of events) transcript.onEvent(event);
    return lines;
  };
  return { transcript, lines, tell };
}

const SPENT = {
  ...{ model: 'anthropic/claude-opus-5', input_tokens: 1_000, cache_read_tokens: 0, cache_write_tokens: 0 },
  ...{ output_tokens: 200, duration_ms: 2_500 },
};

test('a message shows when it was sent, and the last answer of a run when it was complete and what all took', () => {
  const events: StreamEvent[] = [
    { type: 'user_turn', message: 'build it', run_id: 'other', source: 'person', created_ms: TODAY - 24 * 3_600_000 },
    { type: 'content', text: 'Let me look.' },
    { type: 'stream_end', created_ms: TODAY, spent: { ...SPENT, cost_usd: 0.01 } },
    { type: 'tool_info', items: [] },
    { type: 'tool_result', call_id: 'c1', name: 'bash', output: 'ok', outcome: 'done', is_error: false },
    { type: 'content', text: 'Built.' },
    { type: 'stream_end', created_ms: TODAY + 60_000, spent: { ...SPENT, cost_usd: 0.02 } },
    { type: 'ws_state', ws_id: 'w', state: 'idle', run: { run_id: 'other', status: 'ok' } },
  ];
  const lines = open(true).tell(...events);
  assert.equal(lines[0], '› build it (from another client) · 2026-12-23 19:05');
  assert.deepEqual(lines.slice(-2), ['Built.', '19:06 · 5.0 s · claude-opus-5 · $0.0300']);
  assert.equal(lines.filter((line) => /^\d\d:\d\d /.test(line)).length, 1);
  const piped = open(false).tell(...events);
  assert.deepEqual([piped[0], piped.at(-1)], ['› build it (from another client)', 'Built.']);
});

test('stored messages show their times, and the line of a summary stands where it was made', () => {
  const { transcript, lines } = open(true);
  const common = { tool_calls: null, created_ms: TODAY };
  transcript.onSnapshot({
    ...IDLE_SNAPSHOT,
    messages: [
      { seq: 1, role: 'user', content: 'hello', ...common },
      { seq: 2, role: 'assistant', content: 'Hi.', ...common },
      { seq: 3, role: 'user', content: 'again', ...common },
      { seq: 4, role: 'assistant', content: 'Hm.', ...common, created_ms: 8.64e15 },
    ],
    notes: [
      { kind: 'info', after_seq: 2, created_ms: TODAY, message: 'x' },
      { kind: 'compacted', after_seq: 2, created_ms: TODAY, to_seq: 2, messages: 2, summary: 'A greeting.' },
    ],
  });
  const rule = '─'.repeat(8);
  assert.deepEqual(lines, [
    ...['› hello · 19:05', '', 'Hi.', '19:05', ''],
    ...[`${rule} summarized for the model; /summary shows the text ${rule}`, ''],
    ...['› again · 19:05', '', 'Hm.', 'at an unknown time'],
  ]);
});
