import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TodoItem } from '../../../protocol/events/todo.ts';
import type { HistoryMessage } from '../../../protocol/stream-events.ts';
import { createPaint } from '../terminal/paint.ts';
import { toResultLines } from '../terminal/tool-lines.ts';
import { toHistoryLines } from './history-lines.ts';

const paint = createPaint(false);
const OPEN: TodoItem[] = [
  { text: 'find it', status: 'done' },
  { text: 'mend it', status: 'in_progress' },
];
const stored = (items: TodoItem[]): HistoryMessage[] => [
  {
    seq: 2,
    role: 'assistant',
    content: null,
    tool_calls: [{ id: 'a', name: 'todo', arguments: JSON.stringify({ items }) }],
  },
  { seq: 3, role: 'tool', content: '', tool_calls: null, call_id: 'a', name: 'todo', outcome: 'done' },
];

test('the history ends with the checklist of the agent while something on it is open', () => {
  const lines = (of: Parameters<typeof toHistoryLines>[0]) => toHistoryLines(of, { paint, columns: 80 }, undefined);
  const checklist = ['Checklist 1 of 2 done', '  [x] find it', '  [>] mend it'];
  assert.deepEqual(lines({ messages: stored(OPEN) }), [['✔ todo 1 of 2 done'], checklist]);
  assert.deepEqual(lines({ messages: [], todo: OPEN }), [checklist]);
  assert.deepEqual(lines({ messages: stored([{ text: 'find it', status: 'done' }]) }), [['✔ todo 1 of 1 done']]);
});

test('a finished call of the checklist shows the list instead of its output', () => {
  const call = {
    ...{ callId: 'a', name: 'todo', header: 'todo: 1 of 2 done', subject: '1 of 2 done', isDiff: false },
    ...{ preview: '[x] find it\n[>] mend it', notSandboxed: undefined, wasAsked: false },
  };
  assert.deepEqual(
    toResultLines(call, { output: 'The list is stored.', outcome: 'done' }, { paint, columns: 80, hasCommands: true }),
    ['✔ todo 1 of 2 done', '  [x] find it', '  [>] mend it'],
  );
});

test('a long message of a person is broken between words, with its time behind it', () => {
  const content = 'Please look at the gate and tell me whether it is open.\nThanks!';
  const messages: HistoryMessage[] = [{ seq: 1, role: 'user', content, tool_calls: null, created_ms: 0 }];
  const here = { nowMs: 0, tz: 'UTC' };
  const at = (columns: number) => toHistoryLines({ messages }, { paint, columns }, here)[0];
  assert.deepEqual(at(40), ['› Please look at the gate and tell me ', '  whether it is open. · 00:00', '  Thanks!']);
  assert.deepEqual(at(58), ['› Please look at the gate and tell me whether it is open.', '  · 00:00', '  Thanks!']);
});
