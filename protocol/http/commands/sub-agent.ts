import { z } from 'zod';
import { SubAgent } from '../../events/sub-agent.ts';
import { ListedSubAgent } from '../../methods/conversation/sub-agent.ts';
import { HistoryMessage } from '../../stream-events.ts';
import { endpoint } from '../endpoint.ts';

const One = z.object({ ws_id: z.string(), agent_id: z.string().min(1).max(128) });
const MISSING = 'Unknown workstream or sub-agent';

/** The sub-agents of a workstream (HTTP.md, "Sub-agents"). */
export const subAgentEndpoints = {
  list: endpoint({
    verb: 'get',
    path: '/v1/api/workstreams/{ws_id}/agents',
    summary: 'The sub-agents of a workstream, in the order in which they were started; the latest 500.',
    scope: 'read',
    request: () => z.object({ ws_id: z.string() }),
    reply: () => z.object({ agents: z.array(ListedSubAgent) }),
    errors: { 404: 'Unknown workstream' },
  }),
  messages: endpoint({
    verb: 'get',
    path: '/v1/api/workstreams/{ws_id}/agents/{agent_id}/messages',
    summary: 'The task of a sub-agent, what it has said so far, and its calls with their results.',
    scope: 'read',
    request: () => One,
    reply: () => z.object({ agent: SubAgent, messages: z.array(HistoryMessage) }),
    errors: { 404: MISSING },
  }),
  cancel: endpoint({
    verb: 'post',
    path: '/v1/api/workstreams/{ws_id}/agents/{agent_id}/cancel',
    summary: 'Stop one sub-agent with its own sub-agents; its run goes on.',
    scope: 'write',
    request: () => One,
    reply: () =>
      z.object({
        status: z.literal('ok'),
        /** False: it had ended before. */
        cancelled: z.boolean(),
        /** Not ended yet if a tool of it does not stop within five seconds. */
        agent: SubAgent,
      }),
    errors: { 404: MISSING },
  }),
};
