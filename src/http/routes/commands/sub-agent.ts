import { subAgentEndpoints } from '../../../../protocol/http/commands/sub-agent.ts';
import { bind } from '../../bind.ts';

export const subAgentRoutes = [
  bind(subAgentEndpoints.list, 'subagent.list', {
    params: ({ ws_id }) => ({ wsId: ws_id }),
    reply: ({ agents }) => ({ agents }),
  }),
  bind(subAgentEndpoints.messages, 'subagent.messages', {
    params: ({ ws_id, agent_id }) => ({ wsId: ws_id, agentId: agent_id }),
    fieldNames: { agentId: 'agent_id' },
    reply: ({ agent, messages }) => ({ agent, messages }),
  }),
  bind(subAgentEndpoints.cancel, 'subagent.cancel', {
    params: ({ ws_id, agent_id }) => ({ wsId: ws_id, agentId: agent_id }),
    fieldNames: { agentId: 'agent_id' },
    reply: ({ cancelled, agent }) => ({ status: 'ok' as const, cancelled, agent }),
  }),
];
