import { z } from 'zod';
import { WORKSTREAM_KINDS } from '../../../../protocol/methods/conversation/kinds.ts';
import { MAX_BATCH, MAX_OPEN_CHILDREN, type NewChild, type Spawned } from '../../coordinator/coordination.ts';
import type { Tool, ToolContext, ToolOutcome } from '../tool.ts';
import { asData, coordinatorCall, toSubject } from './coordinator-call.ts';

const MAX_MESSAGE = 32_000;

const Child = z.strictObject({
  name: z.string().max(128).optional().describe('What it is called in lists, for people'),
  message: z
    .string()
    .min(1)
    .max(MAX_MESSAGE)
    .describe('Its first message: the whole task, with goal, places, limits and what to report. It knows nothing else'),
  kind: z
    .enum(WORKSTREAM_KINDS)
    .default('interactive')
    .describe('coordinator: it can make workstreams itself; needed only for very large work'),
  model: z.string().max(256).optional().describe('A model alias; by default the one of new workstreams'),
  skill: z.string().max(256).optional().describe('The name of a template or skill that it begins with'),
  workdir: z.string().max(4_096).optional().describe('Its folder, an absolute path; by default yours'),
  mode: z
    .enum(['ask', 'read_only'])
    .default('ask')
    .describe('read_only: it changes nothing. Otherwise it asks the person before it changes something'),
});
type Child = z.infer<typeof Child>;

const ABOUT = `Each has a conversation of its own, which the person can open, and goes on after your answer; its questions go to the person. At most ${MAX_OPEN_CHILDREN} are open at once. Use wait_for_workstream for the answers`;

/** Makes one workstream. */
export const spawnTool: Tool<Child> = {
  name: 'spawn_workstream',
  kind: 'coordinator',
  description: `Makes a workstream that works for you, and sends its first message. ${ABOUT}. Returns {"ws_id", "name"}.`,
  parameters: Child,
  readOnly: false,
  safeToRepeat: true, // a repeat finds what the call had made
  prepare: async (child, context) =>
    spawning('spawn_workstream', [child], { context, told: ([one]) => toOutcome(one ?? NOTHING) }),
};

const Batch = z.strictObject({
  workstreams: z.array(Child).min(1).max(MAX_BATCH).describe('They begin at the same time'),
});

/** Makes several workstreams, with one question. */
export const spawnBatchTool: Tool<z.infer<typeof Batch>> = {
  name: 'spawn_batch',
  kind: 'coordinator',
  description: `Makes up to ${MAX_BATCH} workstreams for independent parts of the work, like spawn_workstream, with one question to the person. Returns [{"ws_id", "name"} or {"error"}] in the order of the call.`,
  parameters: Batch,
  readOnly: false,
  safeToRepeat: true,
  prepare: async ({ workstreams }, context) =>
    spawning('spawn_batch', workstreams, {
      context,
      told(spawned) {
        const outcome = spawned.some((one) => !('problem' in one)) ? 'done' : 'failed';
        return { output: JSON.stringify(spawned.map(toResult)), outcome };
      },
    }),
};

const NOTHING: Spawned = { problem: 'Nothing was made.' };

async function spawning(
  name: 'spawn_workstream' | 'spawn_batch',
  children: readonly Child[],
  { context, told }: { context: ToolContext; told: (spawned: readonly Spawned[]) => ToolOutcome },
) {
  const titles = children.map((child) => toSubject(child.name?.trim() || child.message));
  return coordinatorCall(context, {
    name,
    subject: children.length === 1 ? (titles[0] ?? '') : `${children.length}: ${titles.join(', ')}`.slice(0, 200),
    preview: children.map(toPreview).join('\n\n'),
    needsApproval: true,
    stored: 'changed',
    execute: async (coordination) =>
      told(await coordination.spawn(context.callId, children.map(toNew), { isBatch: name === 'spawn_batch' })),
  });
}

function toPreview({ name, message, kind, model, skill, workdir, mode }: Child, index: number): string {
  const details = [
    ...(kind === 'coordinator' ? ['a coordinator'] : []),
    ...(mode === 'read_only' ? ['read-only'] : []),
    ...(model === undefined ? [] : [`model ${model}`]),
    ...(skill === undefined ? [] : [`skill ${skill}`]),
    ...(workdir === undefined ? [] : [`in ${workdir}`]),
  ];
  const title = `${index + 1}. ${name ?? 'workstream'}${details.length === 0 ? '' : ` (${details.join(', ')})`}`;
  return `${title}\n${message}`;
}

const toNew = ({ name, message, kind, model, skill, workdir, mode }: Child): NewChild => ({
  name: name?.trim() || undefined,
  message: message.trim(),
  kind,
  model,
  skill,
  workdir,
  isReadOnly: mode === 'read_only',
});

const toOutcome = (spawned: Spawned): ToolOutcome =>
  'problem' in spawned ? { output: spawned.problem, outcome: 'failed' } : asData(toResult(spawned));

const toResult = (spawned: Spawned) =>
  'problem' in spawned
    ? { error: spawned.problem }
    : { ws_id: spawned.wsId, name: spawned.name, ...(!spawned.isNew && { note: 'made by this call before' }) };
