import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HistoryMessage, StreamEvent } from '../../../../protocol/stream-events.ts';
import { foldEvent } from './conversation.ts';
import { fold, lines, snapshot } from './conversation-fixture.ts';

const stored = (seq: number, role: 'user' | 'assistant', content: string): HistoryMessage => ({
  ...{ seq, role, content, tool_calls: null },
});
const HISTORY = [stored(1, 'user', 'a'), stored(2, 'assistant', 'A'), stored(3, 'user', 'b')];

const turn = (message: string, seq: number): StreamEvent[] => [
  { type: 'user_turn', message, run_id: `r${seq}`, source: 'person', seq },
  { type: 'content', text: message.toUpperCase() },
  { type: 'stream_end' },
];
const rewound = (after_seq: number): StreamEvent => ({ type: 'rewound', after_seq, reason: 'rewind' });

test('messages that were taken back are gone, whether they came from the history or as events', () => {
  const before = fold([...turn('c', 4), ...turn('d', 6)], snapshot({ messages: HISTORY }));
  const after = (seq: number) => lines(foldEvent(before, rewound(seq)));
  assert.deepEqual(after(5), ['user: a', 'answer A', 'user: b', 'user: c', 'answer C']);
  assert.deepEqual(after(2), ['user: a', 'answer A']);
  assert.deepEqual(after(0), []);
});

test('a retry shows the new answer in place of the old one', () => {
  const conversation = fold([...turn('a', 1), rewound(0), ...turn('a', 3), { type: 'info', message: 'later' }]);
  assert.deepEqual(lines(conversation), ['user: a', 'answer A', 'info: later']);
});

test('a snapshot that was taken after the rewind stays as it is', () => {
  const messages = HISTORY.slice(0, 2);
  assert.deepEqual(lines(fold([rewound(2)], snapshot({ messages }))), ['user: a', 'answer A']);
});

test('if everything shown was taken back, nothing of it is left, and older messages can still be loaded', () => {
  const messages = [stored(7, 'assistant', 'the end of a turn'), stored(8, 'user', 'b')];
  const { blocks, truncated, firstSeq } = fold([rewound(4)], snapshot({ messages, truncated: true }));
  assert.deepEqual([blocks, truncated, firstSeq], [[], true, 7]);
});

test('a removed message is gone with the error that follows it, and other notes stay', () => {
  const messages = [...HISTORY, stored(4, 'user', 'c')];
  const notes = [
    { after_seq: 3, created_ms: 1, kind: 'error', message: 'Error: no' },
    { after_seq: 3, created_ms: 1, kind: 'info', message: 'kept' },
    { after_seq: 4, created_ms: 1, kind: 'error', message: 'another' },
  ] as const;
  const removed = fold([{ type: 'message_removed', seq: 3 }], snapshot({ messages, notes: [...notes] }));
  assert.deepEqual(lines(removed), ['user: a', 'answer A', 'info: kept', 'user: c', 'error: another']);
  assert.deepEqual(lines(foldEvent(removed, { type: 'message_removed', seq: 9 })), lines(removed));
});
