import type { TodoItem } from '../events/todo.ts';
import { isRecord } from '../is-record.ts';
import type { HistoryMessage } from '../stream-events.ts';
import { toVisibleLine } from './visible-text.ts';

/** The name of the tool that writes the checklist. */
export const TODO_TOOL = 'todo';

const TODO_MARKS: Record<TodoItem['status'], string> = {
  pending: '[ ]',
  in_progress: '[>]',
  done: '[x]',
  cancelled: '[-]',
};

/** The checklist in the arguments of a call; undefined if they are malformed. */
export function readTodo(json: string): TodoItem[] | undefined {
  try {
    const value: unknown = JSON.parse(json);
    const items: unknown = isRecord(value) ? value.items : undefined;
    if (!Array.isArray(items)) return undefined;
    const read = items.map(readItem);
    return read.every((item) => item !== undefined) ? read : undefined;
  } catch {
    return undefined;
  }
}

function readItem(item: unknown): TodoItem | undefined {
  if (!isRecord(item) || typeof item.text !== 'string') return undefined;
  const { status = 'pending' } = item;
  return isStatus(status) ? { text: toVisibleLine(item.text), status } : undefined;
}

const isStatus = (value: unknown): value is TodoItem['status'] => typeof value === 'string' && value in TODO_MARKS;

type Told = Pick<HistoryMessage, 'role' | 'call_id' | 'name' | 'outcome' | 'todo' | 'tool_calls'>;

/** The checklist as the latest successful call in these messages left it; undefined: none of them changed it. */
export function findTodo(messages: readonly Told[]): TodoItem[] | undefined {
  const written = new Set<string>();
  for (const message of messages.toReversed()) {
    if (message.todo) return message.todo;
    if (message.role === 'tool' && message.name === TODO_TOOL && message.outcome === 'done')
      written.add(message.call_id ?? '');
    const call = message.tool_calls?.findLast(({ id, name }) => name === TODO_TOOL && written.has(id));
    const items = call && readTodo(call.arguments);
    if (items) return items;
  }
  return undefined;
}

/** Whether something is left to do. */
export const isOpenTodo = (items: readonly TodoItem[]): boolean =>
  items.some(({ status }) => status === 'pending' || status === 'in_progress');

/** `2 of 5 done`; cancelled items do not count. */
export function toTodoWords(items: readonly TodoItem[]): string {
  const counted = items.filter(({ status }) => status !== 'cancelled');
  return items.length === 0
    ? 'empty'
    : `${counted.filter(({ status }) => status === 'done').length} of ${counted.length} done`;
}

/** One line per item. */
export const toTodoLines = (items: readonly TodoItem[]): string[] =>
  items.map(({ text, status }) => `${TODO_MARKS[status]} ${text}`);
