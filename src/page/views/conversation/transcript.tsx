import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { isBusy } from '../../../../protocol/is-busy.ts';
import type { App, Desk } from '../../state/app.ts';
import { findTurn } from '../../state/conversation/asked-turn.ts';
import { type ApprovalBlock, findPendingApproval } from '../../state/conversation/blocks.ts';
import type { Conversation } from '../../state/conversation/conversation.ts';
import { joinTexts, type Tab } from '../../state/tab.ts';
import { toTitle } from '../approvals/approval-card.tsx';
import { FindBar } from '../finding/find-bar.tsx';
import { keepMarks } from '../finding/marks.ts';
import { useGoal } from '../finding/use-goal.ts';
import { Icon } from '../icons.tsx';
import { Summary } from '../summaries/summary.tsx';
import { useSummaryFold } from '../summaries/use-summary-fold.ts';
import { BlockView } from './block-view.tsx';
import { asideOpenerOf, fileOpenerOf, InConversation, rememberedOf } from './conversation-context.ts';
import type { Following } from './following.ts';
import { useBlockWindow } from './use-block-window.ts';
import { WaitNotice } from './wait-notice.tsx';
import { Welcome } from './welcome.tsx';

interface TranscriptProps {
  app: App;
  desk: Desk;
  tab: Tab;
  conversation: Conversation;
}

/** The messages and tool calls. The end stays in view until a person scrolls up; older pages load near the start. */
export function Transcript({ app, desk, tab, conversation }: TranscriptProps) {
  const { blocks, truncated } = conversation;
  const loadEarlier = useLoadEarlier(desk, tab);
  const { isFolded, toggle, blocks: shown } = useSummaryFold(blocks, rememberedOf(tab));
  const hasEarlier = truncated && !isFolded;
  const window = useBlockWindow(shown, () => {
    if (hasEarlier && !window.following.isFollowing.peek()) void loadEarlier();
  });
  const { scroller, content, space, following, drawn, above, below } = window;
  useGoal(tab, { window, blocks, shown, truncated, unfold: toggle, loadEarlier: () => void loadEarlier() });
  const words = tab.search.value;
  useEffect(() => (content.current && words ? keepMarks(content.current, words) : undefined), [words, content]);
  const pending = findPendingApproval(blocks);
  const sending = tab.sending.value;
  const isSending = sending.length > 0;
  const isEmpty = blocks.length === 0 && !isSending;
  following.isFromStart = isEmpty;
  useEffect(() => (isSending ? following.jump() : undefined), [isSending]); // the sender wants to see the answer
  const isReadBack = useReadBack(tab, following);
  const mayWrite = app.rights.write.value;
  const context = useMemo(
    () => ({
      wsId: tab.wsId,
      client: desk.client,
      remembered: rememberedOf(tab),
      search: tab.search,
      goToEnd: following.jump,
      openFile: fileOpenerOf(tab, mayWrite),
      openAside: asideOpenerOf(tab),
    }),
    [tab, desk, following, mayWrite],
  );
  return (
    <InConversation.Provider value={context}>
      <div class="transcript-frame">
        <div class="transcript" ref={scroller} tabIndex={-1}>
          <div class="column" ref={content}>
            {hasEarlier && (
              <button type="button" class="quiet earlier" onClick={() => void loadEarlier({ again: true })}>
                Load earlier messages
              </button>
            )}
            {isEmpty && <Welcome app={app} desk={desk} tab={tab} />}
            <div class="undrawn" ref={space} style={{ height: `${above}px` }} />
            {drawn.map((block) =>
              block.kind === 'summary' ? (
                <Summary key={block.key} block={block} isOpen={!isFolded} toggle={toggle} />
              ) : (
                <BlockView
                  key={block.key}
                  block={block}
                  isPending={block === pending}
                  turn={findTurn(blocks, block)}
                  isBusy={block.kind === 'user' && isBusy(conversation.state)}
                  app={app}
                  desk={desk}
                  tab={tab}
                />
              ),
            )}
            <div class="undrawn" style={{ height: `${below}px` }} />
            {sending.map(({ text, chips }, index) => (
              <div key={index} class="block user sending">
                {joinTexts([text, chips.map(({ name }) => name).join(', ')])}
              </div>
            ))}
            {conversation.wait && <WaitNotice wait={conversation.wait} app={app} desk={desk} tab={tab} />}
            {conversation.waiting && !conversation.wait && <Waiting />}
          </div>
        </div>
        {words !== undefined && (
          <FindBar
            tab={tab}
            blocks={blocks}
            words={words}
            truncated={truncated}
            loadEarlier={async () =>
              (await loadEarlier({ again: true })) && tab.conversation.peek()?.truncated === true
            }
          />
        )}
        {isReadBack && <WayBack pending={pending} jump={following.jump} />}
      </div>
    </InConversation.Provider>
  );
}

/** Loads one page at a time and resolves to whether it came. After a failure, only a call with `again` retries. */
function useLoadEarlier(desk: Desk, tab: Tab): (options?: { again?: boolean }) => Promise<boolean> {
  const loading = useRef<Promise<boolean>>(undefined);
  const hasFailed = useRef(false);
  return ({ again = false } = {}) => {
    if (loading.current) return loading.current;
    if (hasFailed.current && !again) return Promise.resolve(false);
    loading.current = desk.actions.loadEarlier(tab).then((isLoaded) => {
      hasFailed.current = !isLoaded;
      loading.current = undefined;
      return isLoaded;
    });
    return loading.current;
  };
}

/** Whether the person reads further up. The tab then keeps all that is shown. */
function useReadBack({ isReadBack }: Tab, { isFollowing }: Following): boolean {
  const isAway = !isFollowing.value;
  useLayoutEffect(() => {
    isReadBack.value = isAway;
    return () => {
      isReadBack.value = false;
    };
  }, [isReadBack, isAway]);
  return isAway;
}

/** Three dots. They are hidden from screen readers because the state is also shown in words. */
const Waiting = () => (
  <p class="waiting" aria-hidden="true">
    <span />
    <span />
    <span />
  </p>
);

/** Shown while a person reads further up: leads back to the end, or to the question waiting there. */
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
    <button
      type="button"
      class="jump"
      aria-label="Go to the latest message"
      title="Go to the latest message"
      onClick={jump}
    >
      <Icon name="down" />
    </button>
  );
}
