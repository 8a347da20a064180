import { z } from 'zod';

/** How far an item of the agent's checklist is. */
export const TODO_STATUSES = ['pending', 'in_progress', 'done', 'cancelled'] as const;

/** One item of the agent's checklist. */
export const TodoItem = z.object({ text: z.string(), status: z.enum(TODO_STATUSES) });
export type TodoItem = z.infer<typeof TodoItem>;
