import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { McpServer } from '../../../../protocol/methods/admin/mcp.ts';
import { toVisibleLine } from '../../../../protocol/text/visible-text.ts';
import { agentPanelOf } from '../../state/agent-panel/agent-panel.ts';
import type { Desk } from '../../state/app.ts';
import { changedTools } from '../../state/servers/server-board.ts';
import { toCount } from '../panel.tsx';
import { ReadingNotice } from '../reading-notice.tsx';
import { RecordCard } from '../rows/record-card.tsx';
import { ChangedTools, ToolList } from './server-tools.tsx';

/** The servers that give agents further tools. */
export function ServerList({ desk }: { desk: Desk }) {
  const { servers: board } = agentPanelOf(desk);
  useEffect(() => board.follow(), [board]);
  const servers = board.servers.value;
  return (
    <section class="account-list" aria-labelledby="servers-title">
      <header>
        <h2 id="servers-title" tabIndex={-1}>
          Tool servers
        </h2>
        <span class="panel-count" role="status">
          {toCount(servers?.length, 'server')}
        </span>
      </header>
      <p class="soft">
        Programs and addresses that give agents further tools (MCP). They start when they are needed, once for all
        conversations.
      </p>
      <ReadingNotice of={[board.reading]} />
      {servers?.length === 0 && (
        <p class="empty">
          No tool servers. They are in <code>mcp.servers</code> of config.json.
        </p>
      )}
      <ul aria-label="Tool servers">
        {servers?.map((server) => (
          <ServerCard key={server.name} desk={desk} server={server} />
        ))}
      </ul>
    </section>
  );
}

const STATES: Record<McpServer['state'], string> = {
  idle: 'starts when needed',
  connecting: 'connecting…',
  connected: 'connected',
  failed: 'failed',
  disabled: 'disabled',
};

function ServerCard({ desk, server }: { desk: Desk; server: McpServer }) {
  const { servers: board } = agentPanelOf(desk);
  const { name, state, problem, notes, about, calls, tools } = server;
  const refusal = useSignal<string | undefined>(undefined);
  const isAsking = useSignal(false);
  const refresh = async () => {
    if (isAsking.peek()) return;
    isAsking.value = true;
    refusal.value = undefined;
    refusal.value = await board.refresh(name);
    isAsking.value = false;
  };
  const verb = isAsking.value ? 'Asking…' : 'Refresh';
  const usable = tools.filter(({ isGone }) => !isGone).length;
  const facts = [STATES[state], toCount(usable, 'tool') || 'no tools', toCount(calls, 'call'), toVisibleLine(about)];
  return (
    <RecordCard
      title={name}
      tags={[
        changedTools(server).length > 0 && 'changed',
        state === 'failed' && 'failed',
        server.autoApprove && 'runs unasked',
        !server.sandbox && server.transport === 'stdio' && 'outside the sandbox',
      ]}
      facts={facts.filter((fact) => fact !== '').join(' · ')}
      name={name}
      onEdit={undefined}
      buttons={
        state !== 'disabled' && (
          <button
            type="button"
            class="quiet"
            aria-label={`${verb} ${name}`}
            aria-disabled={isAsking.value}
            onClick={() => void refresh()}
          >
            {verb}
          </button>
        )
      }
      removal={undefined}
    >
      <div class="agent-record">
        <p>
          <code>{toVisibleLine(server.url || [server.command, ...server.args].join(' '))}</code>
        </p>
        <Reach server={server} />
        {(refusal.value ?? problem) !== undefined && (
          <p class="problem" role="alert">
            {toVisibleLine(refusal.value ?? problem ?? '')}
          </p>
        )}
        {notes.map((note) => (
          <p key={note} class="account-facts">
            {toVisibleLine(note)}
          </p>
        ))}
        <ChangedTools desk={desk} server={server} />
        <ToolList server={server} />
      </div>
    </RecordCard>
  );
}

/** What a program of the machine may reach, and which of its values are set. */
function Reach({
  server: { transport, sandbox, network, folders, writesFolders, env, headers },
}: {
  server: McpServer;
}) {
  const set = [...Object.keys(env), ...Object.keys(headers)];
  const reach =
    transport === 'stdio' && sandbox
      ? [
          network.length === 0 ? 'no network' : `connects to ${network.join(', ')}`,
          ...(folders.length === 0 ? [] : [`${writesFolders ? 'changes' : 'reads'} ${folders.join(', ')}`]),
        ]
      : [];
  const facts = [...reach, ...(set.length === 0 ? [] : [`with ${set.join(', ')}`])];
  return facts.length === 0 ? null : <p class="account-facts">{toVisibleLine(facts.join(' · '))}</p>;
}
