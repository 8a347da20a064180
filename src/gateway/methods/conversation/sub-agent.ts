import { GatewayError } from '../../../../protocol/errors.ts';
import type { subAgentContracts } from '../../../../protocol/methods/conversation/sub-agent.ts';
import { findAgent, readAgentMessages, readAgentsIn } from '../../agents/sub-agent-rows.ts';
import type { Handlers } from '../../call.ts';
import { newestWithin, toHistory } from '../../history/history.ts';
import { viewerOf } from '../../sharing/perception.ts';
import type { Store } from '../../store/store.ts';
import type { Workstreams } from '../../workstreams/workstreams.ts';

interface SubAgentMethodDeps {
  workstreams: Pick<Workstreams, 'get'>;
  store: Store;
}

const MOST_CHARS = 4 * 1024 * 1024;

export const subAgentMethods = ({
  workstreams,
  store,
}: SubAgentMethodDeps): Handlers<keyof typeof subAgentContracts> => ({
  async 'subagent.list'({ wsId }, call) {
    await workstreams.get(wsId, viewerOf(call));
    return { agents: await readAgentsIn(store, wsId) };
  },
  async 'subagent.messages'({ wsId, agentId }, call) {
    await workstreams.get(wsId, viewerOf(call));
    const found = await findAgent(store, wsId, agentId);
    if (!found) throw new GatewayError('NOT_FOUND', 'No sub-agent of this workstream has this id');
    const messages = toHistory(await readAgentMessages(store, agentId));
    return { agent: found.state, messages: newestWithin(messages, MOST_CHARS) };
  },
});
