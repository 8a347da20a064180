import type { SubAgent } from '../events/sub-agent.ts';

type Told = Pick<SubAgent, 'state' | 'outcome' | 'turns' | 'tool_calls'>;

/** What a sub-agent does, or how it ended: `working, 2 turns, 3 calls`. */
export function subAgentWords({ state, outcome, turns, tool_calls: calls }: Told): string {
  const did =
    turns === 0 ? '' : `, ${turns} ${turns === 1 ? 'turn' : 'turns'}, ${calls} ${calls === 1 ? 'call' : 'calls'}`;
  return `${stateWords({ state, outcome })}${did}`;
}

function stateWords({ state, outcome }: Pick<Told, 'state' | 'outcome'>): string {
  if (state !== 'ended') return state === 'waiting' ? 'waiting' : 'working';
  if (outcome === 'limit') return 'ended at a limit';
  return outcome ?? 'ended';
}
