import { GatewayError } from '../../../protocol/errors.ts';
import { MAX_TASKS, type TaskChange } from '../../agent/coordinator/coordination.ts';
import type { StoredTask } from './coordinator-rows.ts';

/** The list after a change. `callId`: the call that asks for it. Throws INVALID_REQUEST for an unknown task. */
export function changedTasks(
  tasks: readonly StoredTask[],
  change: TaskChange,
  { callId, nowMs }: { callId: string; nowMs: number },
): readonly StoredTask[] {
  if (change.action === 'add') return added(tasks, change, { callId, nowMs });
  const found = tasks.find(({ id }) => id === change.id);
  if (change.action === 'remove') return tasks.filter((task) => task !== found); // a repeat finds it gone
  if (!found) throw new GatewayError('INVALID_REQUEST', `There is no task ${change.id}. The action "list" shows them.`);
  const { action: _, id, ...fields } = change;
  return tasks.map((task) => (task === found ? { ...task, ...fields, id, updatedMs: nowMs } : task));
}

function added(
  tasks: readonly StoredTask[],
  { action: _, ...fields }: TaskChange & { action: 'add' },
  { callId, nowMs }: { callId: string; nowMs: number },
): readonly StoredTask[] {
  if (tasks.some((task) => task.callId === callId)) return tasks;
  if (tasks.length >= MAX_TASKS)
    throw new GatewayError('INVALID_REQUEST', `There are ${MAX_TASKS} tasks already. Remove some that are done.`);
  const id = String(Math.max(0, ...tasks.map((task) => Number(task.id) || 0)) + 1);
  return [...tasks, { id, ...fields, callId, createdMs: nowMs, updatedMs: nowMs }];
}

/** As clients see it. */
export const toTask = ({ callId: _, ...task }: StoredTask) => task;
