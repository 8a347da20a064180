import type { Signal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { isBusy } from '../../../../protocol/is-busy.ts';
import type { App, Desk } from '../../state/app.ts';
import type { Conversation } from '../../state/conversation/conversation.ts';
import type { Tab } from '../../state/tab.ts';
import { AgentTree } from '../agents/agent-tree.tsx';
import { AsidePlace } from '../aside/aside-place.tsx';
import { BackgroundList } from '../background/background-list.tsx';
import { Composer } from '../composer/composer.tsx';
import { TaskNotice } from '../first-run/task-notice.tsx';
import type { Overlay } from '../overlay.ts';
import { LazyPiece } from '../parts/lazy-views.tsx';
import { COORDINATOR } from '../parts/parts.ts';
import { STATE_WORDS } from '../tab-button.tsx';
import { WatchBar } from '../watches/watch-bar.tsx';
import { ConversationHead } from './head/conversation-head.tsx';
import { SpeechRegion } from './speech-region.tsx';
import { TodoPanel } from './todo-panel.tsx';
import { Transcript } from './transcript.tsx';

interface ConversationViewProps {
  app: App;
  desk: Desk;
  tab: Tab;
  overlay: Overlay;
  isRenaming: Signal<boolean>;
}

/** One workstream: its head, its transcript and its composer. */
export function ConversationView({ app, desk, tab, overlay, isRenaming }: ConversationViewProps) {
  const conversation = tab.conversation.value;
  if (!conversation) return <p class="empty">{tab.row.value.waiting?.message ?? 'Loading the conversation…'}</p>;
  return (
    <section class="conversation" id="conversation" role="tabpanel" aria-labelledby={`tab-${tab.wsId}`}>
      <ConversationHead
        app={app}
        desk={desk}
        tab={tab}
        conversation={conversation}
        overlay={overlay}
        isRenaming={isRenaming}
      />
      <Transcript app={app} desk={desk} tab={tab} conversation={conversation} />
      <TodoPanel conversation={conversation} />
      <RunStatus key={tab.wsId} state={conversation.state} />
      <SpeechRegion blocks={conversation.blocks} />
      <AgentTree app={app} desk={desk} tab={tab} agents={conversation.agents} isBusy={isBusy(conversation.state)} />
      {tab.row.value.kind === 'coordinator' && (
        <LazyPiece part={COORDINATOR} desk={desk}>
          {({ CoordinatorPanel }) => (
            <CoordinatorPanel app={app} desk={desk} tab={tab} workers={conversation.children} />
          )}
        </LazyPiece>
      )}
      {conversation.background.length > 0 && (
        <BackgroundList app={app} desk={desk} tab={tab} commands={conversation.background} />
      )}
      {desk.guide.task.value === tab.wsId && <TaskNotice desk={desk} conversation={conversation} />}
      {app.rights.write.value && <WatchBar desk={desk} wsId={tab.wsId} />}
      {app.rights.write.value ? (
        <Composer app={app} desk={desk} tab={tab} conversation={conversation} />
      ) : (
        <ReadOnly problem={tab.problem.value} />
      )}
      <AsidePlace app={app} desk={desk} tab={tab} overlay={overlay} />
    </section>
  );
}

/** Announces what a run does, and its end, which no sentence of the answer tells. The note of an error announces itself. */
function RunStatus({ state }: Pick<Conversation, 'state'>) {
  const hasRun = useRef(false);
  hasRun.current ||= isBusy(state);
  const end = hasRun.current && state === 'idle' ? 'the agent has finished' : '';
  return (
    <p class="hidden-text" role="status">
      {isBusy(state) ? STATE_WORDS[state] : end}
    </p>
  );
}

/** In place of the composer, for those who may only look. */
const ReadOnly = ({ problem }: { problem: string | undefined }) => (
  <footer class="composer">
    <div class="composer-column">
      <p class="problem" role="alert">
        {problem}
      </p>
      <p class="read-only">
        Read-only access: you see this conversation. Ask an administrator for a role that sends messages.
      </p>
    </div>
  </footer>
);
