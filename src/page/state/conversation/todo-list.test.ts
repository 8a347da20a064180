import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TodoItem } from '../../../../protocol/events/todo.ts';
import type { HistoryMessage, StreamEventOf } from '../../../../protocol/stream-events.ts';
import { fold, item, snapshot } from './conversation-fixture.ts';
import { todoOf } from './todo-list.ts';

const list = (text: string): TodoItem[] => [{ text, status: 'pending' }];
const result = (call_id: string, todo?: TodoItem[]): StreamEventOf<'tool_result'> => ({
  type: 'tool_result',
  call_id,
  name: 'todo',
  output: '',
  outcome: todo ? 'done' : 'failed',
  is_error: todo === undefined,
  ...(todo && { todo }),
});
const stored: HistoryMessage[] = [
  { seq: 1, role: 'user', content: 'go', tool_calls: null },
  {
    seq: 2,
    role: 'assistant',
    content: null,
    tool_calls: [{ id: 'a', name: 'todo', arguments: JSON.stringify({ items: list('stored') }) }],
  },
  { seq: 3, role: 'tool', content: '', tool_calls: null, call_id: 'a', name: 'todo', outcome: 'done' },
];

test('the checklist is that of the latest call, or of the snapshot, until it is cleared', () => {
  const info: StreamEventOf<'tool_info'> = { type: 'tool_info', items: [item('b', { func_name: 'todo' })] };
  const todo = (...[events, from]: Parameters<typeof fold>) => todoOf(fold(events, from)).map(({ text }) => text);
  const of = snapshot({ messages: stored, todo: list('stored') });
  const older = snapshot({ todo: list('older') });
  assert.deepEqual(
    {
      none: todo([]),
      older: todo([], older),
      stored: todo([], of),
      later: todo([info, result('b', list('later'))], of),
      failed: todo([info, result('b')], of),
      emptied: todo([info, result('b', [])], of),
      cleared: todo([info, result('b', list('later')), { type: 'clear_ui', after_seq: 3 }], older),
      planned: todo([info, result('b', list('later')), { ...result('p', list('step')), name: 'plan_agent' }], of),
      takenBack: todo([{ type: 'rewound', after_seq: 0, reason: 'rewind' }], older),
    },
    {
      ...{ none: [], older: ['older'], stored: ['stored'], later: ['later'], failed: ['stored'] },
      ...{ emptied: [], cleared: [], planned: ['step'], takenBack: [] },
    },
  );
});

test('the checklist of a stored plan is shown until a later call changes it', () => {
  const planned: HistoryMessage[] = [
    ...stored,
    {
      seq: 4,
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'p', name: 'plan_agent', arguments: '{"goal":"x"}' }],
    },
    {
      ...{ seq: 5, role: 'tool', content: 'approved', tool_calls: null, call_id: 'p', name: 'plan_agent' },
      ...{ outcome: 'done', todo: list('step') },
    },
  ];
  assert.deepEqual(todoOf(fold([], snapshot({ messages: planned, todo: list('step') }))), list('step'));
});
