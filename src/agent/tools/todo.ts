import { z } from 'zod';
import { TODO_STATUSES } from '../../../protocol/events/todo.ts';
import { TODO_TOOL, toTodoLines, toTodoWords } from '../../../protocol/text/todo-words.ts';
import { toVisibleLine } from '../../../protocol/text/visible-text.ts';
import type { Tool } from './tool.ts';

const MOST_ITEMS = 100;

const TodoArguments = z.strictObject({
  items: z
    .array(
      z.strictObject({
        text: z.string().min(1).max(500).describe('What is to be done, in one line'),
        status: z.enum(TODO_STATUSES).default('pending'),
      }),
    )
    .max(MOST_ITEMS)
    .describe('The whole list, in the order in which it will be done; it replaces the former one. Empty: no list'),
});
type TodoArguments = z.infer<typeof TodoArguments>;

/** Keeps a checklist that people see. The list is in the arguments of its latest call, so it needs no other place. */
export function createTodoTool(): Tool<TodoArguments> {
  return {
    name: TODO_TOOL,
    description: [
      'Keeps a checklist for work of three or more steps, which the person sees. Give the whole list at each call: mark an',
      'item in_progress before you begin it and done right after it, and cancelled if it is not needed any more.',
    ].join(' '),
    parameters: TodoArguments,
    readOnly: true,
    safeToRepeat: true,
    async prepare({ items: given }) {
      const items = given.map(({ text, status }) => ({ text: toVisibleLine(text), status }));
      return {
        kind: 'ready',
        subject: toTodoWords(items),
        preview: toTodoLines(items).join('\n'),
        approvalLabel: TODO_TOOL,
        needsApproval: false,
        execute: async () => ({
          output: items.length === 0 ? 'The list is empty.' : `The list is stored (${toTodoWords(items)}).`,
          outcome: 'done',
          todo: items,
        }),
      };
    },
  };
}
