import { z } from 'zod';
import { contract } from '../../contract.ts';
import { SubAgent } from '../../events/sub-agent.ts';
import { NonEmpty } from '../../frames.ts';
import { HistoryMessage } from '../../stream-events.ts';

const OneSubAgent = z.strictObject({ wsId: z.string(), agentId: NonEmpty.max(128) });

/** A sub-agent, and the beginning of what it said last. */
export const ListedSubAgent = SubAgent.extend({
  /** At most 500 characters; absent: nothing yet. */
  last_output: z.string().optional(),
}).meta({ id: 'ListedSubAgent' });
export type ListedSubAgent = z.infer<typeof ListedSubAgent>;

/** The sub-agents that the agent has started. The event `sub_agent` reports their changes. */
export const subAgentContracts = {
  'subagent.list': contract({
    summary: 'The sub-agents of a workstream: those that work, and those that have ended.',
    scope: 'read',
    params: () => z.strictObject({ wsId: z.string() }).meta({ id: 'SubagentListParams' }),
    result: () =>
      z
        .strictObject({
          /** In the order in which they were started; the latest 500. */
          agents: z.array(ListedSubAgent),
        })
        .meta({ id: 'SubagentListResult' }),
  }),
  'subagent.messages': contract({
    summary: 'The task of a sub-agent, what it has said so far, and its calls with their results.',
    scope: 'read',
    weight: 3,
    params: () => OneSubAgent.meta({ id: 'SubagentMessagesParams' }),
    result: () =>
      z
        .strictObject({
          agent: SubAgent,
          /** Without the oldest, if they are longer than 4 MiB together. */
          messages: z.array(HistoryMessage),
        })
        .meta({ id: 'SubagentMessagesResult' }),
  }),
  'subagent.cancel': contract({
    summary: 'Stop one sub-agent with its own sub-agents; its run goes on, and the agent is told that a person did it.',
    scope: 'write',
    params: () => OneSubAgent.meta({ id: 'SubagentCancelParams' }),
    result: () =>
      z
        .strictObject({
          /** False: it had ended before. */
          cancelled: z.boolean(),
          /** Not ended yet if a tool of it does not stop within five seconds. */
          agent: SubAgent,
        })
        .meta({ id: 'SubagentCancelResult' }),
  }),
};
