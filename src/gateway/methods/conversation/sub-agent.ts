import { GatewayError } from '../../../../protocol/errors.ts';
import type { subAgentContracts } from '../../../../protocol/methods/conversation/sub-agent.ts';
import type { Clock } from '../../../clock.ts';
import type { StoredAgent } from '../../agents/sub-agent-rows.ts';
import { findAgent, readAgentMessages, readAgentsIn } from '../../agents/sub-agent-rows.ts';
import type { Handlers } from '../../call.ts';
import { callerOf } from '../../caller.ts';
import { newestWithin, toHistory } from '../../history/history.ts';
import { viewerOf } from '../../sharing/perception.ts';
import type { Store } from '../../store/store.ts';
import type { Workstreams } from '../../workstreams/workstreams.ts';

interface SubAgentMethodDeps {
  workstreams: Pick<Workstreams, 'get'>;
  store: Store;
  clock: Clock;
}

const MOST_CHARS = 4 * 1024 * 1024;
/** How long an answer waits for the end of what was cancelled. */
const CANCEL_MS = 5_000;

export const subAgentMethods = ({
  workstreams,
  store,
  clock,
}: SubAgentMethodDeps): Handlers<keyof typeof subAgentContracts> => ({
  async 'subagent.list'({ wsId }, call) {
    await workstreams.get(wsId, viewerOf(call));
    return { agents: await readAgentsIn(store, wsId) };
  },
  async 'subagent.messages'({ wsId, agentId }, call) {
    await workstreams.get(wsId, viewerOf(call));
    const { state: agent } = await getAgent(store, wsId, agentId);
    const messages = toHistory(await readAgentMessages(store, agentId));
    return { agent, messages: newestWithin(messages, MOST_CHARS) };
  },
  async 'subagent.cancel'({ wsId, agentId }, call) {
    const { current: live } = await workstreams.get(wsId, viewerOf(call));
    await getAgent(store, wsId, agentId);
    const agent = live?.agents.byId(agentId);
    const cancelled = (await agent?.cancel(callerOf(call).principal)) === true;
    if (cancelled) await endInTime([agent?.ended, live?.ended], clock);
    return { cancelled, agent: (await getAgent(store, wsId, agentId)).state };
  },
});

async function getAgent(store: Store, wsId: string, agentId: string): Promise<StoredAgent> {
  const found = await findAgent(store, wsId, agentId);
  if (!found) throw new GatewayError('NOT_FOUND', 'No sub-agent of this workstream has this id');
  return found;
}

/** Waits for the first end, but not long. */
async function endInTime(ends: readonly (Promise<unknown> | undefined)[], clock: Clock): Promise<void> {
  const ended = new AbortController();
  const late = clock.sleep(CANCEL_MS, ended.signal).catch(() => undefined); // it ended in time
  try {
    await Promise.race([late, ...ends]);
  } finally {
    ended.abort();
  }
}
