import { type Signal, useSignal } from '@preact/signals';
import type { McpServer } from '../../../../protocol/methods/admin/mcp.ts';
import { toVisibleLine } from '../../../../protocol/text/visible-text.ts';
import { agentPanelOf } from '../../state/agent-panel/agent-panel.ts';
import type { Desk } from '../../state/app.ts';
import { changedTools } from '../../state/servers/server-board.ts';
import { LossQuestion } from '../dialogs/loss-question.tsx';
import { toCount } from '../panel.tsx';
import { RecordCard } from '../rows/record-card.tsx';
import { useFocusAfter } from '../use-focus-after.ts';
import { ChangedTools, ToolList } from './server-tools.tsx';

const STATES: Record<McpServer['state'], string> = {
  idle: 'starts when needed',
  connecting: 'connecting…',
  connected: 'connected',
  failed: 'failed',
  disabled: 'disabled',
};

interface CardProps {
  desk: Desk;
  server: McpServer;
}

/** One server with its state and tools. Those of config.json cannot be changed here. */
export function ServerCard({ desk, server, onEdit }: CardProps & { onEdit(): void }) {
  const { servers: board } = agentPanelOf(desk);
  const { serverId, name, source, enabled } = server;
  const refusal = useSignal<string | undefined>(undefined);
  const isStored = source === 'store';
  return (
    <RecordCard
      title={name}
      tags={tagsOf(server)}
      facts={factsOf(server)}
      name={name}
      onEdit={isStored ? onEdit : undefined}
      buttons={server.state !== 'disabled' && <ActButtons desk={desk} server={server} refusal={refusal} />}
      toggle={isStored ? { isOn: enabled, set: (isOn) => board.setEnabled(serverId, isOn) } : undefined}
      removal={
        isStored
          ? {
              verb: 'Remove',
              loss: 'with its settings and values? It ends at once, with the calls under way. This cannot be undone.',
              remove: () => board.remove(serverId),
              focusAfter: 'servers-title',
            }
          : undefined
      }
    >
      <ServerBody desk={desk} server={server} refusal={refusal.value} />
    </RecordCard>
  );
}

const tagsOf = (server: McpServer) => [
  server.source === 'config' && 'config.json',
  changedTools(server).length > 0 && 'changed',
  server.state === 'failed' && 'failed',
  server.autoApprove && 'runs unasked',
  !server.sandbox && server.transport === 'stdio' && 'outside the sandbox',
];

function factsOf({ state, tools, calls, about }: McpServer): string {
  const usable = tools.filter(({ isGone }) => !isGone).length;
  const facts = [STATES[state], toCount(usable, 'tool') || 'no tools', toCount(calls, 'call'), toVisibleLine(about)];
  return facts.filter((fact) => fact !== '').join(' · ');
}

function ServerBody({ desk, server, refusal }: CardProps & { refusal: string | undefined }) {
  const { url, command, args, problem = '', notes, origin } = server;
  const told = refusal ?? problem;
  return (
    <div class="agent-record">
      <p>
        <code>{toVisibleLine(url || [command, ...args].join(' '))}</code>
      </p>
      <Reach server={server} />
      {origin && <p class="account-facts">{toVisibleLine(`from the registry: ${origin.name} ${origin.version}`)}</p>}
      {told !== '' && (
        <p class="problem" role="alert">
          {toVisibleLine(told)}
        </p>
      )}
      {notes.map((note) => (
        <p key={note} class="account-facts">
          {toVisibleLine(note)}
        </p>
      ))}
      {server.authType === 'oauth_user' && <AllAccounts desk={desk} name={server.name} />}
      <ChangedTools desk={desk} server={server} />
      <ToolList server={server} />
    </div>
  );
}

/** Each person uses it with an account of their own; an administrator can end all of them at once. */
function AllAccounts({ desk, name }: { desk: Desk; name: string }) {
  const { consents: board } = agentPanelOf(desk);
  const isAsking = useSignal(false);
  const element = useFocusAfter<HTMLDivElement>(isAsking.value ? 'removing' : 'shown');
  return (
    <div ref={element}>
      <p class="account-facts">
        {'used with accounts of people · '}
        <button
          type="button"
          class="quiet link"
          data-opens="removing"
          aria-label={`Disconnect all accounts from ${name}`}
          onClick={() => {
            isAsking.value = true;
          }}
        >
          Disconnect all accounts
        </button>
      </p>
      {isAsking.value && (
        <LossQuestion
          verb="Disconnect"
          name={`all accounts from ${name}`}
          loss="now? Everybody has to consent again."
          remove={async () => {
            const problem = await board.disconnectAll(name);
            isAsking.value = problem !== undefined;
            return problem;
          }}
          onKeep={() => {
            isAsking.value = false;
          }}
        />
      )}
    </div>
  );
}

type Refusal = Signal<string | undefined>;

function ActButtons({ desk, server: { name, serverId }, refusal }: CardProps & { refusal: Refusal }) {
  const { servers: board } = agentPanelOf(desk);
  const common = { name, refusal };
  return (
    <>
      <ActButton {...common} verb="Refresh" busy="Asking…" act={() => board.refresh(name)} />
      <ActButton {...common} verb="Restart" busy="Ending…" act={() => board.reload(serverId)} />
    </>
  );
}

interface ActButtonProps {
  verb: string;
  /** In its place while the daemon answers. */
  busy: string;
  name: string;
  refusal: Refusal;
  /** Returns an error message, or undefined on success. */
  act(): Promise<string | undefined>;
}

function ActButton({ verb, busy, name, refusal, act }: ActButtonProps) {
  const isBusy = useSignal(false);
  const run = async () => {
    if (isBusy.peek()) return;
    isBusy.value = true;
    refusal.value = undefined;
    refusal.value = await act();
    isBusy.value = false;
  };
  const word = isBusy.value ? busy : verb;
  return (
    <button
      type="button"
      class="quiet"
      aria-label={`${word} ${name}`}
      aria-disabled={isBusy.value}
      onClick={() => void run()}
    >
      {word}
    </button>
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
