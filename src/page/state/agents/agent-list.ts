import type { SubAgent } from '../../../../protocol/events/sub-agent.ts';
import { toVisibleLine } from '../../../../protocol/text/visible-text.ts';
import type { Block } from '../conversation/blocks.ts';

/** The sub-agents after one has started, worked or ended; each after the one that started it, in the order of their starts. */
export function withAgent(agents: readonly SubAgent[], changed: SubAgent): readonly SubAgent[] {
  const at = agents.findIndex(({ agent_id }) => agent_id === changed.agent_id);
  if (at >= 0) return agents.with(at, changed);
  const isBelow = (one: SubAgent): boolean => {
    if (one.agent_id === changed.parent_agent_id) return true;
    const parent = agents.find(({ agent_id }) => agent_id === one.parent_agent_id);
    return parent !== undefined && isBelow(parent);
  };
  const last = agents.findLastIndex(isBelow);
  return last < 0 ? [...agents, changed] : agents.toSpliced(last + 1, 0, changed);
}

/** With those of a list that work and are not shown yet. */
export const withWorking = (shown: readonly SubAgent[], listed: readonly SubAgent[]): readonly SubAgent[] =>
  listed
    .filter(({ state, agent_id: id }) => state !== 'ended' && !shown.some(({ agent_id }) => agent_id === id))
    .reduce(withAgent, shown);

/** The title of the sub-agent that an event names; undefined: it is of the agent of the conversation. */
export const agentTitle = (
  agents: readonly SubAgent[],
  { agent_id: agentId }: { agent_id?: string | undefined },
): string | undefined =>
  agentId === undefined
    ? undefined
    : toVisibleLine(agents.find(({ agent_id }) => agent_id === agentId)?.title ?? 'unknown');

/** Marks the cards of calls that a sub-agent makes. */
export const markCalls = (
  blocks: readonly Block[],
  callIds: readonly string[],
  agent: string | undefined,
): readonly Block[] =>
  agent === undefined
    ? blocks
    : blocks.map((block) => (block.kind === 'tool' && callIds.includes(block.callId) ? { ...block, agent } : block));
