import { type Signal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { systemTimers } from '../../../../protocol/client/timers.ts';
import type { McpServer } from '../../../../protocol/methods/admin/mcp.ts';
import { agentPanelOf } from '../../state/agent-panel/agent-panel.ts';
import type { Desk } from '../../state/app.ts';
import { Icon } from '../icons.tsx';
import { type Overlay, useOwnOverlay } from '../overlay.ts';
import { toCount } from '../panel.tsx';
import { ReadingNotice } from '../reading-notice.tsx';
import { ImportDialog } from './import-dialog.tsx';
import { RegistryDialog } from './registry-dialog.tsx';
import { ServerCard } from './server-card.tsx';
import { ServerDialog } from './server-dialog.tsx';

/** A server that connects has done so, or failed, after a few seconds. */
const CONNECTING_MS = 2_000;

/** What the open dialog is about; `server` undefined within: a new one. */
type Opened = 'import' | 'registry' | { server: McpServer | undefined };

interface ServerListProps {
  desk: Desk;
  overlay: Overlay;
}

/** The servers that give agents further tools. */
export function ServerList({ desk, overlay }: ServerListProps) {
  const { servers: board } = agentPanelOf(desk);
  const opened = useSignal<Opened>('import');
  const servers = board.servers.value;
  useEffect(() => board.follow(), [board]);
  const dialog = useOwnOverlay(overlay, 'agent');
  useEffect(() => {
    if (!servers?.some(({ state }) => state === 'connecting')) return undefined;
    return systemTimers.after(CONNECTING_MS, () => void board.read());
  }, [board, servers]);
  const open = (what: Opened) => {
    opened.value = what;
    dialog.open();
  };
  return (
    <section class="account-list" aria-labelledby="servers-title">
      <header class="servers-head">
        <h2 id="servers-title" tabIndex={-1}>
          Tool servers
        </h2>
        <span class="panel-count" role="status">
          {toCount(servers?.length, 'server')}
        </span>
        <HeadButtons open={open} />
      </header>
      <p class="soft">
        Programs and addresses that give agents further tools (MCP). They start when they are needed, once for all
        conversations. Those of config.json are changed only there, on the machine.
      </p>
      <RetryFailed desk={desk} />
      <ReadingNotice of={[board.reading]} />
      {servers?.length === 0 && (
        <p class="empty">
          No tool servers yet. A tool server (MCP) gives the agent more tools, such as a database or a ticket system.
          Add one, import the file of another program, or search the registry.
        </p>
      )}
      <ul aria-label="Tool servers">
        {servers?.map((server) => (
          <ServerCard key={server.serverId} desk={desk} server={server} onEdit={() => open({ server })} />
        ))}
      </ul>
      {dialog.isOpen && <OpenedDialog desk={desk} opened={opened} onClose={dialog.close} />}
    </section>
  );
}

const HeadButtons = ({ open }: { open(what: Opened): void }) => (
  <div class="row-actions">
    <button type="button" class="quiet" onClick={() => open('registry')}>
      Registry…
    </button>
    <button type="button" class="quiet" onClick={() => open('import')}>
      Import…
    </button>
    <button type="button" class="primary" onClick={() => open({ server: undefined })}>
      <Icon name="plus" />
      <span>Add a server</span>
    </button>
  </div>
);

interface OpenedDialogProps {
  desk: Desk;
  opened: Signal<Opened>;
  onClose(): void;
}

function OpenedDialog({ desk, opened, onClose }: OpenedDialogProps) {
  const what = opened.value;
  if (what === 'import') return <ImportDialog desk={desk} onClose={onClose} />;
  if (what === 'registry') return <RegistryDialog desk={desk} onClose={onClose} />;
  return <ServerDialog desk={desk} server={what.server} onClose={onClose} />;
}

/** While some have failed: the button that asks all of them again. */
function RetryFailed({ desk }: { desk: Desk }) {
  const { servers: board } = agentPanelOf(desk);
  const problem = useSignal<string | undefined>(undefined);
  const failed = board.servers.value?.filter(({ state }) => state === 'failed').length ?? 0;
  if (failed < 2) return null; // one has a button of its own
  const retry = async () => {
    problem.value = undefined;
    problem.value = await board.reload(undefined);
  };
  return (
    <p class="retry-failed">
      {`${failed} servers have failed.`}
      <button type="button" onClick={() => void retry()}>
        Ask all of them again
      </button>
      <span class="problem" role="alert">
        {problem.value}
      </span>
    </p>
  );
}
