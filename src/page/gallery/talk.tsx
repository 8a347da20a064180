import { useSignal } from '@preact/signals';
import type { App, Desk } from '../state/app.ts';
import type { Tab } from '../state/tab.ts';
import { BannerList } from '../views/banner-list.tsx';
import { ConversationView } from '../views/conversation/conversation-view.tsx';
import { LoginCard } from '../views/login/login-card.tsx';
import type { Overlay } from '../views/overlay.ts';
import { Rail } from '../views/rail.tsx';
import { Markdown } from '../views/text/markdown.tsx';
import { PatchView } from '../views/text/patch-view.tsx';
import { DIFF, MARKDOWN } from './example-events.ts';
import { Part } from './part.tsx';

/** A whole conversation with its list, and the parts of messages. */
export function Talk({ app, desk, tab }: { app: App; desk: Desk; tab: Tab }) {
  const overlay: Overlay = useSignal(undefined);
  const isRenaming = useSignal(false);
  return (
    <>
      <Part name="Notices">
        <BannerList app={app} desk={desk} />
      </Part>
      <Part name="Conversation: messages, tools in all states, notes, a question, the composer">
        <div class="desk gallery-desk">
          <Rail app={app} desk={desk} overlay={overlay} />
          <div class="stage">
            <ConversationView app={app} desk={desk} tab={tab} overlay={overlay} isRenaming={isRenaming} />
          </div>
        </div>
      </Part>
      <Part name="Markdown">
        <div class="gallery-text">
          <Markdown text={MARKDOWN} streaming={false} />
        </div>
      </Part>
      <Part name="Diff">
        <PatchView text={DIFF} isDiff />
      </Part>
      {/* In no part, because it is a main landmark. */}
      <LoginCard app={app} problem="This link has been used or has expired." />
    </>
  );
}
