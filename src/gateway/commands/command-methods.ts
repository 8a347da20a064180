import type { CommandName } from '../../../protocol/commands.ts';
import type { ServedMethod } from '../call.ts';
import { refreshedBy } from '../mcp/mcp-command.ts';
import { endedBy } from './background-command.ts';
import { cancelledBy } from './watches-command.ts';

/**
 * The method that does the same as a command with this argument: the command needs the rights of its row. Where a command
 * has no such method, it needs what every command needs.
 */
export const methodOf: Readonly<Record<CommandName, (argument: string) => ServedMethod>> = {
  help: () => 'workstream.command',
  clear: () => 'workstream.command',
  new: () => 'sessions.reset',
  model: (alias) => (alias === '' ? 'models.list' : 'workstream.update'),
  effort: () => 'workstream.update',
  reason: () => 'workstream.update',
  resume: () => 'workstream.history',
  name: () => 'workstream.update',
  mode: (word) => (word === '' ? 'workstream.get' : 'workstream.update'),
  share: (who) => (who === '' ? 'workstream.get' : 'workstream.share'),
  retry: () => 'workstream.retry',
  rewind: () => 'workstream.rewind',
  undo: () => 'checkpoint.undo',
  redo: () => 'checkpoint.redo',
  diff: () => 'checkpoint.diff',
  edit: () => 'workstream.edit',
  remove: () => 'workstream.remove',
  fork: () => 'workstream.fork',
  steer: () => 'workstream.send',
  budget: (limit) => (limit === '' ? 'budget.list' : 'budget.set'),
  background: (argument) => (endedBy(argument) === undefined ? 'background.list' : 'background.kill'),
  watches: (argument) => (cancelledBy(argument) === undefined ? 'watch.list' : 'watch.cancel'),
  tools: () => 'workstream.command',
  template: () => 'workstream.command',
  skill: () => 'workstream.command',
  prompt: (argument) => (argument === '' ? 'workstream.command' : 'workstream.send'),
  mcp: (argument) => (refreshedBy(argument) === undefined ? 'mcp.list' : 'mcp.refresh'),
  compact: () => 'sessions.compact',
  workstreams: () => 'workstream.list',
  history: () => 'workstream.history',
};
