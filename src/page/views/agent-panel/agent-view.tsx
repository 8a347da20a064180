import { useMemo } from 'preact/hooks';
import { AGENT_PARTS, type AgentPart, agentPanelOf, partsFor } from '../../state/agent-panel/agent-panel.ts';
import type { App, Desk } from '../../state/app.ts';
import styles from '../../styles/agent-panel.css?inline';
import skillStyles from '../../styles/skills.css?inline';
import { MemoryList } from '../memories/memory-list.tsx';
import type { Overlay } from '../overlay.ts';
import { Panel } from '../panel.tsx';
import { adoptStyles } from '../parts/adopt-styles.ts';
import { ServersPart } from '../servers/servers-part.tsx';
import { SkillList } from '../skills/skill-list.tsx';
import { WatchList } from '../watches/watch-list.tsx';

adoptStyles(styles + skillStyles);

interface AgentViewProps {
  app: App;
  desk: Desk;
  overlay: Overlay;
}

/** What the agent has besides its conversations: watches, memories, skills and tool servers. */
export function AgentView({ app, desk, overlay }: AgentViewProps) {
  const { part } = agentPanelOf(desk);
  useMemo(() => {
    if (app.arrival.isFromConsent) part.value = 'servers';
    app.arrival.shown();
  }, [app, part]);
  const parts = partsFor(app.rights);
  const shown = parts.includes(part.value) ? part.value : parts[0];
  return (
    <Panel name="agent" title="Agent" count="" desk={desk}>
      <nav class="usage-choice account-nav" aria-label="Parts of the agent view">
        {parts.map((one) => (
          <button
            key={one}
            type="button"
            class="quiet"
            aria-current={one === shown ? 'page' : undefined}
            onClick={() => {
              part.value = one;
            }}
          >
            {AGENT_PARTS[one]}
          </button>
        ))}
      </nav>
      {/* A change of rights draws the part anew, so that it reads what may be seen now. */}
      {shown && <Part key={app.who.value?.permissions.join()} app={app} desk={desk} overlay={overlay} shown={shown} />}
    </Panel>
  );
}

function Part({ app, desk, overlay, shown }: AgentViewProps & { shown: AgentPart }) {
  switch (shown) {
    case 'watches':
      return <WatchList app={app} desk={desk} />;
    case 'memories':
      return <MemoryList app={app} desk={desk} />;
    case 'skills':
      return <SkillList app={app} desk={desk} overlay={overlay} />;
    case 'servers':
      return <ServersPart app={app} desk={desk} overlay={overlay} />;
  }
}
