import { COORDINATOR_TOOLS, type CoordinatorTool } from '../../../src/agent/coordinator/tool-names.ts';
import type { Random } from '../../checker/random.ts';
import { ALIASES } from '../model-servers.ts';
import type { Talk } from '../talk.ts';
import { folderOf, nameOf } from './children.ts';
import { plannedChildren } from './tree.ts';

/** More often than the others. */
const OFTEN: readonly CoordinatorTool[] = ['spawn_workstream', 'spawn_batch', 'wait_for_workstream'];
/** They need a child. */
const ABOUT_SOMEBODY: readonly CoordinatorTool[] = [
  ...(['inspect_workstream', 'send_to_workstream', 'wait_for_workstream', 'cancel_workstream'] as const),
  ...(['close_workstream', 'delete_workstream'] as const),
];

/** A random call of a coordinator. Children stand in it by their names, because their ids are not known yet. */
export function leadCall(talk: Talk, random: Random): { name: CoordinatorTool; arguments: Record<string, unknown> } {
  const known = plannedChildren(talk);
  const possible = COORDINATOR_TOOLS.filter((name) => known.length > 0 || !ABOUT_SOMEBODY.includes(name));
  const name = random.chance(0.4) ? random.pick(OFTEN.filter((one) => possible.includes(one))) : random.pick(possible);
  return { name, arguments: argumentsOf(name, talk, random) };
}

function argumentsOf(name: CoordinatorTool, talk: Talk, random: Random): Record<string, unknown> {
  const known = plannedChildren(talk);
  const one = () => random.pick(known);
  const some = () => [...new Set(Array.from({ length: random.int(1, 3) }, one))].map(nameOf);
  switch (name) {
    case 'spawn_workstream':
      return newChild(talk, random);
    case 'spawn_batch':
      return { workstreams: Array.from({ length: random.int(2, 3) }, () => newChild(talk, random)) };
    case 'inspect_workstream':
      return { ws_id: nameOf(one()), messages: random.int(1, 10) };
    case 'send_to_workstream':
      return messageTo(one(), talk, random);
    case 'wait_for_workstream':
      return waitFor(some(), random);
    case 'cancel_workstream':
    case 'close_workstream':
      return { ws_ids: some() };
    case 'delete_workstream':
      return { ws_id: nameOf(one()) };
    case 'tasks':
      return taskArguments(talk, random);
    default:
      return {};
  }
}

/** Its folder tells its requests from those of others. */
export function newChild(talk: Talk, random: Random): Record<string, unknown> {
  const number = talk.witness.children.plan(talk.machine.dir);
  return {
    ...{
      name: nameOf(number),
      workdir: folderOf(number),
      message: wordy(talk.witness.children.messageTo(number), random),
    },
    ...(random.chance(0.2) && { kind: 'coordinator' }),
    ...(random.chance(0.5) && { model: random.pick(ALIASES) }),
    ...(random.chance(0.2) && { mode: 'read_only' }),
  };
}

export const messageTo = (number: number, talk: Talk, random: Random) => ({
  ws_id: nameOf(number),
  message: wordy(talk.witness.children.messageTo(number), random),
});

export const waitFor = (wsIds: readonly string[], random: Random) => ({
  ws_ids: wsIds,
  mode: random.pick(['all', 'all', 'any']),
  timeout_secs: random.pick([1, 600]),
});

const wordy = (message: string, random: Random): string => `${message} ${'word '.repeat(random.pick([0, 5, 60]))}`;

function taskArguments(talk: Talk, random: Random): Record<string, unknown> {
  const known = plannedChildren(talk);
  const child = known.length > 0 && random.chance(0.5) ? { child_ws_id: nameOf(random.pick(known)) } : {};
  switch (random.pick(['add', 'add', 'update', 'remove', 'list'])) {
    case 'add':
      return { action: 'add', title: `part ${talk.nextNumber()}`, ...child };
    case 'update':
      return { action: 'update', id: String(random.int(1, 3)), status: random.pick(['in_progress', 'done']), ...child };
    case 'remove':
      return { action: 'remove', id: String(random.int(1, 3)) };
    default:
      return { action: 'list' };
  }
}
