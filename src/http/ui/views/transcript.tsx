import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { App, Desk } from '../state/app.ts';
import { type ApprovalBlock, findPendingApproval } from '../state/blocks.ts';
import type { Conversation } from '../state/conversation.ts';
import type { Tab } from '../state/tab.ts';
import { toTitle } from './approval-card.tsx';
import { BlockView } from './block-view.tsx';
import { useFollowing } from './following.ts';
import { Icon } from './icons.tsx';
import { Welcome } from './welcome.tsx';

interface TranscriptProps {
  app: App;
  desk: Desk;
  tab: Tab;
  conversation: Conversation;
}

/** How many blocks a conversation begins with on the screen, and how many more each step back brings. */
const STEP_BLOCKS = 200;

/** What was said and done, its end in view until somebody scrolls away from it. */
export function Transcript({ app, desk, tab, conversation }: TranscriptProps) {
  const limit = useSignal(STEP_BLOCKS);
  const { scroller, content, isFollowing, jump, holdPlace } = useFollowing();
  const { blocks } = conversation;
  const hidden = Math.max(0, blocks.length - limit.value);
  const pending = findPendingApproval(blocks);
  const isSending = tab.sending.value !== undefined;
  useEffect(() => {
    if (isSending) jump(); // who says something wants to see the answer
  }, [isSending, jump]);
  const earlier = async () => {
    holdPlace();
    limit.value += STEP_BLOCKS;
    if (hidden === 0) await desk.actions.loadEarlier(tab);
  };
  return (
    <div class="transcript-frame">
      <div class="transcript" ref={scroller} tabIndex={-1}>
        <div class="column" ref={content}>
          {(hidden > 0 || conversation.truncated) && (
            <button type="button" class="quiet earlier" onClick={() => void earlier()}>
              Load earlier messages
            </button>
          )}
          {blocks.length === 0 && !isSending && <Welcome tab={tab} />}
          {blocks.slice(hidden).map((block) => (
            <BlockView key={block.key} block={block} isPending={block === pending} app={app} desk={desk} tab={tab} />
          ))}
          {isSending && <div class="block user sending">{tab.sending.value}</div>}
          {conversation.waiting && <Waiting />}
        </div>
      </div>
      {!isFollowing.value && <WayBack pending={pending} jump={jump} />}
    </div>
  );
}

/** Three dots; the state is said in words elsewhere. */
const Waiting = () => (
  <p class="waiting" aria-hidden="true">
    <span />
    <span />
    <span />
  </p>
);

/** Over the conversation while somebody reads further up: back to the end, or to the question that waits there. */
function WayBack({ pending, jump }: { pending: ApprovalBlock | undefined; jump(): void }) {
  if (pending)
    return (
      <div class="review">
        <Icon name="shield" />
        {toTitle(pending)}
        <button type="button" onClick={jump}>
          Review
        </button>
      </div>
    );
  return (
    <button type="button" class="jump" aria-label="Go to the latest" title="Go to the latest" onClick={jump}>
      <Icon name="down" />
    </button>
  );
}
