import type { ComponentChildren } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import { subAgentWords } from '../../../../protocol/text/background-words.ts';
import { toVisibleLine } from '../../../../protocol/text/visible-text.ts';
import type { App, Desk } from '../../state/app.ts';
import { type AgentName, AgentTalk } from '../../state/aside/agent-talk.ts';
import type { TalkBlock } from '../../state/conversation/blocks.ts';
import type { Tab } from '../../state/tab.ts';
import { ReadingNotice } from '../reading-notice.tsx';

interface SubAgentViewProps {
  app: App;
  desk: Desk;
  tab: Tab;
  name: AgentName;
  drawBlock(block: TalkBlock): ComponentChildren;
}

/** The task of a sub-agent, what it says and what it does, while it works and afterwards. */
export function SubAgentView({ app, desk, tab, name, drawBlock }: SubAgentViewProps) {
  const { client } = desk;
  const { wsId } = tab;
  const board = useMemo(() => new AgentTalk({ client, wsId, name }), [client, wsId]);
  const talk = board.talk.value;
  const told = tab.conversation.value?.agents.find((one) =>
    'agentId' in name ? one.agent_id === name.agentId : one.call_id === name.callId,
  );
  const isOver = tab.conversation.value?.agents.length === 0; // its last event may not have been seen
  useEffect(() => void board.read(), [board, told, isOver]);
  const agent = isOver ? talk?.agent : (told ?? talk?.agent);
  return (
    <>
      <ReadingNotice of={[board.reading]} />
      {board.isMissing.value && <p class="empty">This call has started no sub-agent.</p>}
      {agent && (
        <p class="aside-facts">
          <b>{toVisibleLine(agent.title)}</b>
          <span class="soft">{subAgentWords(agent)}</span>
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
        </p>
      )}
      <div class="aside-talk">{talk?.blocks.map((block) => drawBlock(block))}</div>
    </>
  );
}
