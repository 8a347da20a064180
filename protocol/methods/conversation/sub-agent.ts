import { z } from 'zod';
import { contract } from '../../contract.ts';
import { SubAgent } from '../../events/sub-agent.ts';
import { NonEmpty } from '../../frames.ts';
import { HistoryMessage } from '../../stream-events.ts';

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
          agents: z.array(SubAgent),
        })
        .meta({ id: 'SubagentListResult' }),
  }),
  'subagent.messages': contract({
    summary: 'The task of a sub-agent, what it has said so far, and its calls with their results.',
    scope: 'read',
    weight: 3,
    params: () =>
      z.strictObject({ wsId: z.string(), agentId: NonEmpty.max(128) }).meta({ id: 'SubagentMessagesParams' }),
    result: () =>
      z
        .strictObject({
          agent: SubAgent,
          /** Without the oldest, if they are longer than 4 MiB together. */
          messages: z.array(HistoryMessage),
        })
        .meta({ id: 'SubagentMessagesResult' }),
  }),
};
