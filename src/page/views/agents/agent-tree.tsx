import type { SubAgent } from '../../../../protocol/events/sub-agent.ts';
import { subAgentWords } from '../../../../protocol/text/background-words.ts';

/** The sub-agents of the run, as a tree, above the composer. */
export const AgentTree = ({ agents }: { agents: readonly SubAgent[] }) => (
  <section class="background" aria-label="Sub-agents">
    <ul class="agent-tree">
      {agents.map((agent) => (
        <li key={agent.agent_id} style={{ paddingInlineStart: `${agent.depth - 1}rem` }}>
          {agent.title} <span class="background-state">{subAgentWords(agent)}</span>
        </li>
      ))}
    </ul>
  </section>
);
