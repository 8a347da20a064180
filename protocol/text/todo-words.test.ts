import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findTodo, readTodo, toTodoWords } from './todo-words.ts';

const call = (id: string, items: unknown) => ({
  role: 'assistant' as const,
  tool_calls: [{ id, name: 'todo', arguments: JSON.stringify({ items }) }],
});
const result = (call_id: string, outcome: 'done' | 'failed' = 'done') => ({
  role: 'tool' as const,
  name: 'todo',
  call_id,
  outcome,
  tool_calls: null,
});

test('the checklist of a conversation is that of the latest successful call', () => {
  const first = [{ text: 'one', status: 'done' }];
  const later = [{ text: 'two', status: 'pending' }];
  assert.deepEqual(findTodo([call('a', first), result('a'), call('b', later), result('b', 'failed')]), first);
  assert.deepEqual(findTodo([call('a', first), result('a'), call('b', later), result('b')]), later);
  assert.deepEqual(findTodo([call('a', first), result('a'), call('b', []), result('b')]), []);
  assert.equal(findTodo([call('a', first)]), undefined);
  const planned = { ...result('p'), name: 'plan_agent', todo: [{ text: 'step', status: 'pending' as const }] };
  assert.deepEqual(findTodo([call('a', first), result('a'), planned]), planned.todo);
  assert.deepEqual(findTodo([planned, call('a', first), result('a')]), first);
});

test('malformed arguments have no checklist; an item without a status is pending', () => {
  const pending = readTodo('{"items":[{"text":"a"}]}');
  assert.deepEqual(
    [pending, readTodo('{"items":[{"text":1}]}'), readTodo('{"items":{}}'), readTodo('{')],
    [[{ text: 'a', status: 'pending' }], undefined, undefined, undefined],
  );
});

test('cancelled items do not count', () => {
  const items = (['done', 'cancelled', 'pending'] as const).map((status) => ({ text: 'a', status }));
  assert.deepEqual([toTodoWords(items), toTodoWords([])], ['1 of 2 done', 'empty']);
});
