import { useEffect } from 'preact/hooks';
import type { SubAgent } from '../../../../protocol/events/sub-agent.ts';
import { subAgentWords } from '../../../../protocol/text/background-words.ts';
import { toVisibleLine } from '../../../../protocol/text/visible-text.ts';
import type { App, Desk } from '../../state/app.ts';
import type { Tab } from '../../state/tab.ts';
import { OpenAside } from '../conversation/open-aside.tsx';
import { indentOf } from './indent.ts';

interface AgentTreeProps {
  app: App;
  desk: Desk;
  tab: Tab;
  agents: readonly SubAgent[];
  /** A run is in progress. */
  isBusy: boolean;
}

/** The sub-agents of the run, as a tree, above the composer. Those that began before the page was opened are read. */
export function AgentTree({ app, desk, tab, agents, isBusy }: AgentTreeProps) {
  const isOpen = desk.client.isOpen.value;
  useEffect(() => {
    if (isBusy && isOpen) desk.actions.readAgents(tab);
  }, [desk, tab, isBusy, isOpen]);
  if (agents.length === 0) return null;
  return (
    <section class="background" aria-label="Sub-agents">
      <ul class="agent-tree">
        {agents.map((agent) => (
          <li key={agent.agent_id} style={indentOf(agent.depth - 1)}>
            {toVisibleLine(agent.title)} <span class="background-state">{subAgentWords(agent)}</span>
            <OpenAside
              label={`Open ${toVisibleLine(agent.title)}`}
              onOpen={() => {
                tab.aside.value = { view: 'agent', agentId: agent.agent_id };
              }}
            />
            {agent.state !== 'ended' && app.rights.write.value && (
              <button
                type="button"
                class="quiet"
                aria-label={`End ${toVisibleLine(agent.title)}`}
                onClick={() => void desk.actions.cancelAgent(tab, agent.agent_id)}
              >
                End
              </button>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
