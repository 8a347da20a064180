import type { ChatRequest } from '../../support/model/scripted-model.ts';
import type { ScriptedCall } from '../../support/model/scripted-steps.ts';
import type { Random } from '../random.ts';
import { effectCommand } from './effects-file.ts';

/** Calls that begin work beside the conversation. The tag occurs in one call alone. */
export const taskCall = (tag: string): ScriptedCall => ({
  name: 'task',
  arguments: { title: tag, prompt: `do the part ${tag}`, max_turns: 6 },
});

export const planCall = (tag: string): ScriptedCall => ({ name: 'plan_agent', arguments: { goal: tag } });

/** It fires at the first poll that is not interrupted. */
export const watchCall = (tag: string, file: string): ScriptedCall => ({
  name: 'watch',
  arguments: {
    ...{ action: 'create', name: tag, interval: '10s', max_polls: 2, stop_on: 'exit_code == 0' },
    command: effectCommand({ tag, file, secs: 0 }),
  },
});

export const memoryCall = (tag: string): ScriptedCall => ({
  name: 'memory',
  arguments: { action: 'save', name: tag.replaceAll('-', '_'), content: `content of ${tag}` },
});

/** What a coordinator does with its children, whose ids are known from earlier results. */
export function leadCall(tag: string, children: readonly string[], random: Random): ScriptedCall {
  const child = { name: tag, message: `do the part ${tag}` };
  const [first] = children;
  const calls: ScriptedCall[] = [
    { name: 'spawn_workstream', arguments: child },
    {
      name: 'spawn_batch',
      arguments: {
        workstreams: ['a', 'b'].map((part) => ({
          ...child,
          name: `${tag}-${part}`,
          message: `${child.message}-${part}`,
        })),
      },
    },
    ...(first === undefined
      ? []
      : [
          { name: 'send_to_workstream', arguments: { ws_id: first, message: `more of ${tag}` } },
          { name: 'wait_for_workstream', arguments: { ws_ids: children.slice(0, 2), mode: 'any', timeout_secs: 2 } },
          { name: 'wait_for_workstream', arguments: { ws_ids: children.slice(0, 2), timeout_secs: 1 } },
          { name: 'cancel_workstream', arguments: { ws_ids: [first] } },
          { name: 'close_workstream', arguments: { ws_ids: [first] } },
          { name: 'close_all_children', arguments: {} },
        ]),
  ];
  return random.pick(calls);
}

/** The children that results in the request name, newest first; undefined: it is no request of a coordinator. */
export function childrenNamedIn({ messages, tools = [] }: ChatRequest): string[] | undefined {
  if (!tools.some((tool) => tool.function.name === 'spawn_workstream')) return undefined;
  const results = messages.filter(({ role }) => role === 'tool').map(({ content }) => String(content));
  const ids = results.flatMap((text) => [...text.matchAll(/"ws_id":"([0-9a-f]{32})"/g)].map(([, id = '']) => id));
  return [...new Set(ids.reverse())];
}

/** Whether a plan is asked for. */
export const isForPlan = ({ messages }: { messages: readonly { content: unknown }[] }): boolean =>
  String(messages[0]?.content).includes('You are planning now');

export const PLAN_TEXT =
  '## Goal\nIt.\n\n## Current State\nThe folder holds a few files, and none of them is about this.\n\n## Plan\n1. Begin.\n2. End.\n\n## Risks\nNone.';
