import { z } from 'zod';
import { type CoordinatorTask, TASK_STATES } from '../../../../protocol/methods/conversation/coordinator.ts';
import { MAX_TASKS, type TaskChange } from '../../coordinator/coordination.ts';
import type { Prepared, Tool, ToolContext } from '../tool.ts';
import { asData, coordinatorCall } from './coordinator-call.ts';

const TasksArguments = z.strictObject({
  action: z.enum(['list', 'add', 'update', 'remove']),
  id: z.string().max(128).optional().describe('update and remove: the id of the task'),
  title: z.string().max(200).optional().describe('add and update: what is to be done, in one line'),
  status: z.enum(TASK_STATES).optional().describe('add and update; needs_user: only the person can go on with it'),
  child_ws_id: z.string().max(128).optional().describe('add and update: the workstream that does it'),
  note: z.string().max(2_000).optional().describe('add and update: what has come of it, or what it waits for'),
});
type TasksArguments = z.infer<typeof TasksArguments>;

/** Keeps the coordinator's list of tasks, which outlives its conversation. */
export const tasksTool: Tool<TasksArguments> = {
  name: 'tasks',
  kind: 'coordinator',
  description: `Keeps your list of tasks, which people see, and which you still have after your conversation was cleared or summarized: list, add, update or remove one. At most ${MAX_TASKS}. Returns the whole list.`,
  parameters: TasksArguments,
  readOnly: false,
  safeToRepeat: true,
  prepare,
};

async function prepare(args: TasksArguments, context: ToolContext): Promise<Prepared> {
  const read = readChange(args);
  const subject = `${args.action} ${args.title ?? args.id ?? ''}`.trim().slice(0, 200);
  if ('problem' in read) return { kind: 'refused', subject, reason: read.problem };
  const { change } = read;
  return coordinatorCall(context, {
    name: 'tasks',
    subject,
    stored: change ? 'changed' : 'read',
    execute: async (coordination) =>
      asData({
        tasks: (await (change ? coordination.changeTasks(context.callId, change) : coordination.tasks())).map(toRow),
      }),
  });
}

function readChange(args: TasksArguments): { change: TaskChange | undefined } | { problem: string } {
  const { action, id, title, status = 'pending', child_ws_id: childWsId = '', note = '' } = args;
  if (action === 'list') return { change: undefined };
  if (action === 'add') {
    const words = title?.trim() ?? '';
    if (words === '') return { problem: 'add needs a title.' };
    return { change: { action, title: words, status, childWsId, note } };
  }
  if (id === undefined || id === '') return { problem: `${action} needs the id of a task; action "list" shows them.` };
  if (action === 'remove') return { change: { action, id } };
  return {
    change: {
      action,
      id,
      ...(title !== undefined && { title: title.trim() }),
      ...(args.status !== undefined && { status: args.status }),
      ...(args.child_ws_id !== undefined && { childWsId: args.child_ws_id }),
      ...(args.note !== undefined && { note: args.note }),
    },
  };
}

const toRow = ({ id, title, status, childWsId, note }: CoordinatorTask) => ({
  id,
  title,
  status,
  ...(childWsId !== '' && { child_ws_id: childWsId }),
  ...(note !== '' && { note }),
});
