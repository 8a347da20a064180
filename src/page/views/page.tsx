import { type Signal, useSignal } from '@preact/signals';
import { useEffect, useLayoutEffect } from 'preact/hooks';
import type { App, Desk } from '../state/app.ts';
import { tabName } from '../state/tab.ts';
import type { Panel as PanelName } from '../state/workstreams.ts';
import { ConfirmDialog } from './accounts/confirm-dialog.tsx';
import { useNotifications, useSignals } from './attention/use-attention.ts';
import { BannerList } from './banner-list.tsx';
import { ConversationView } from './conversation/conversation-view.tsx';
import { NewWorkstreamDialog } from './dialogs/new-workstream-dialog.tsx';
import { useLinks } from './finding/use-links.ts';
import { InboxView } from './inbox/inbox-view.tsx';
import { LoginCard } from './login/login-card.tsx';
import type { Overlay } from './overlay.ts';
import { LazyDialog, LazyPanel } from './parts/lazy-views.tsx';
import { ACCOUNT, AGENT, CHANNELS, DASHBOARD, NODES, SAVED, SCHEDULE, SHORTCUT_LIST, USAGE } from './parts/parts.ts';
import { Rail } from './rail.tsx';
import { TopBar } from './top-bar.tsx';
import { useShortcuts } from './use-shortcuts.ts';
import { useWayBack } from './use-way-back.ts';

/** Everything on the screen. */
export function Page({ app }: { app: App }) {
  useTitle(app);
  useSignals(app);
  const phase = app.phase.value;
  switch (phase.kind) {
    case 'starting':
      return <main class="alone" aria-busy="true" />;
    case 'login':
      return <LoginCard app={app} problem={phase.problem} />;
    case 'desk':
      return <DeskView app={app} desk={phase.desk} />;
  }
}

function DeskView({ app, desk }: { app: App; desk: Desk }) {
  const overlay: Overlay = useSignal(undefined);
  const isRenaming = useSignal(false);
  useShortcuts({ app, desk, overlay, isRenaming });
  useNotifications({ app, desk });
  useWayBack({ desk, overlay });
  useLinks({ app, desk });
  const front = desk.workstreams.front.value;
  useEffect(() => {
    isRenaming.value = false; // the rename was for the previous workstream
  }, [front, isRenaming]);
  return (
    <div class={`desk ${overlay.value === 'drawer' ? 'drawn' : ''}`}>
      <Rail app={app} desk={desk} overlay={overlay} />
      {/* Nothing under the open drawer of a phone can be focused or pressed. */}
      <main class="stage" inert={overlay.value === 'drawer'}>
        <TopBar app={app} desk={desk} overlay={overlay} />
        <BannerList app={app} desk={desk} />
        <Stage app={app} desk={desk} overlay={overlay} isRenaming={isRenaming} />
      </main>
      <Dialogs app={app} desk={desk} overlay={overlay} />
      {desk.confirmation.asked.value && <ConfirmDialog app={app} desk={desk} by={desk.confirmation.asked.value} />}
    </div>
  );
}

interface StageProps {
  app: App;
  desk: Desk;
  overlay: Overlay;
  isRenaming: Signal<boolean>;
}

function Stage({ app, desk, overlay, isRenaming }: StageProps) {
  const { front, shown } = desk.workstreams;
  if (shown.value !== 'conversation') return <ShownPanel app={app} desk={desk} overlay={overlay} shown={shown.value} />;
  if (front.value)
    return (
      <ConversationView
        key={front.value.wsId}
        app={app}
        desk={desk}
        tab={front.value}
        overlay={overlay}
        isRenaming={isRenaming}
      />
    );
  return (
    <p class="empty">
      {app.connection.value.kind === 'open'
        ? 'No workstream is open. A workstream is a conversation with the agent: choose “New workstream”.'
        : 'Connecting…'}
    </p>
  );
}

function ShownPanel({ app, desk, overlay, shown }: Omit<StageProps, 'isRenaming'> & { shown: PanelName }) {
  switch (shown) {
    case 'inbox':
      return <InboxView app={app} desk={desk} />;
    case 'agent':
      return (
        <LazyPanel part={AGENT} name="agent" title={PANELS.agent} desk={desk}>
          {({ AgentView }) => <AgentView app={app} desk={desk} overlay={overlay} />}
        </LazyPanel>
      );
    case 'schedule':
      return (
        <LazyPanel part={SCHEDULE} name="cron" title={PANELS.schedule} desk={desk}>
          {({ CronView }) => <CronView app={app} desk={desk} overlay={overlay} />}
        </LazyPanel>
      );
    case 'dashboard':
      return (
        <LazyPanel part={DASHBOARD} name="dashboard" title={PANELS.dashboard} desk={desk}>
          {({ DashboardView }) => <DashboardView app={app} desk={desk} />}
        </LazyPanel>
      );
    case 'usage':
      return (
        <LazyPanel part={USAGE} name="usage" title={PANELS.usage} desk={desk}>
          {({ UsageView }) => <UsageView app={app} desk={desk} />}
        </LazyPanel>
      );
    case 'account':
      return (
        <LazyPanel part={ACCOUNT} name="account" title={PANELS.account} desk={desk}>
          {({ AccountView }) => <AccountView app={app} desk={desk} overlay={overlay} />}
        </LazyPanel>
      );
    case 'nodes':
      return (
        <LazyPanel part={NODES} name="nodes" title={PANELS.nodes} desk={desk}>
          {({ NodesView }) => <NodesView app={app} desk={desk} />}
        </LazyPanel>
      );
    case 'channels':
      return (
        <LazyPanel part={CHANNELS} name="channels" title={PANELS.channels} desk={desk}>
          {({ ChannelsView }) => <ChannelsView app={app} desk={desk} />}
        </LazyPanel>
      );
  }
}

function Dialogs({ app, desk, overlay }: { app: App; desk: Desk; overlay: Overlay }) {
  const close = () => {
    overlay.value = undefined;
  };
  switch (overlay.value) {
    case 'new':
      return <NewWorkstreamDialog app={app} desk={desk} onClose={close} />;
    case 'saved':
      return (
        <LazyDialog part={SAVED} title="Saved conversations" desk={desk} onClose={close}>
          {({ SavedDialog }) => <SavedDialog app={app} desk={desk} onClose={close} />}
        </LazyDialog>
      );
    case 'shortcuts':
      return (
        <LazyDialog part={SHORTCUT_LIST} title="Keyboard" desk={desk} onClose={close}>
          {({ ShortcutsDialog }) => <ShortcutsDialog onClose={close} />}
        </LazyDialog>
      );
    case 'drawer':
    case 'job': // CronView shows this dialog, as it knows which job is edited
    case 'account': // AccountView shows this dialog, as it knows what is edited
    case 'agent': // ServerList shows this dialog, as it knows which server is edited
    case 'changes':
    case 'aside':
    case 'owner': // the head of the conversation shows these, because they are about this one
    case undefined:
      return null;
  }
}

/** The title says how much waits for a decision, visible from other browser tabs. It changes together with the view, before anything in it gets the focus. */
function useTitle(app: App): void {
  const phase = app.phase.value;
  const front = phase.kind === 'desk' ? phase.desk.workstreams.front.value : undefined;
  const mark = app.waiting.value > 0 ? `(${app.waiting.value}) ` : '';
  const shown = phase.kind === 'desk' ? phase.desk.workstreams.shown.value : 'conversation';
  const name = shown === 'conversation' ? front && tabName(front) : PANELS[shown];
  const title = `${mark}${name === undefined ? '' : `${name} · `}Headgate`;
  useLayoutEffect(() => {
    document.title = title;
  }, [title]);
}

const PANELS = {
  dashboard: 'Dashboard',
  inbox: 'Inbox',
  agent: 'Agent',
  schedule: 'Schedule',
  nodes: 'Nodes',
  channels: 'Channels',
  usage: 'Usage',
  account: 'Account',
};
