import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { isBusy } from '../../../../protocol/is-busy.ts';
import type { App, Desk } from '../../state/app.ts';
import { isCommand } from '../../state/commands.ts';
import { findPendingApproval } from '../../state/conversation/blocks.ts';
import type { Conversation } from '../../state/conversation/conversation.ts';
import type { Tab } from '../../state/tab.ts';
import { Icon } from '../icons.tsx';
import { AttachButton } from './attach-button.tsx';
import { DictateButton } from './dictate-button.tsx';
import { ModelPicker } from './model-picker.tsx';
import { StopButton } from './stop-button.tsx';
import { TokenStatus } from './token-status.tsx';

interface ComposerRowProps {
  app: App;
  desk: Desk;
  tab: Tab;
  conversation: Conversation;
  /** Whether the draft may be sent now. */
  mayGo: boolean;
}

/** What is below the message field: files, settings of the next run, what happens now, and the buttons. */
export function ComposerRow({ app, desk, tab, conversation, mayGo }: ComposerRowProps) {
  const busy = isBusy(conversation.state);
  const hint = toHint({ app, tab, conversation });
  const { fold, button, picker, toggle } = useFold(conversation);
  return (
    <div class={`composer-row ${fold}`}>
      <AttachButton desk={desk} tab={tab} />
      <DictateButton tab={tab} />
      <button
        ref={button}
        type="button"
        class={`quiet icon-only unfold ${fold}`}
        aria-label="Model settings"
        aria-expanded={fold === 'unfolded'}
        aria-controls="model-picker"
        onClick={toggle}
      >
        <Icon name="sliders" />
      </button>
      <ModelPicker desk={desk} tab={tab} conversation={conversation} element={picker} />
      <TokenStatus status={conversation.status} />
      <span class={`composer-hint ${hint.isOfKeys ? 'of-keys' : ''}`} id="composer-hint">
        {hint.text}
      </span>
      {busy && <StopButton desk={desk} tab={tab} />}
      {(!busy || mayGo) && (
        <button type="submit" class="primary round" aria-label="Send" title="Send" disabled={!mayGo}>
          <Icon name="send" />
        </button>
      )}
    </div>
  );
}

/**
 * On a phone, model and effort are folded during a run, when the room is needed for its questions. They are not folded only
 * when a question appears, because the composer would then move what a person is about to press.
 */
function useFold({ state, blocks }: Conversation) {
  const busy = isBusy(state);
  const question = findPendingApproval(blocks)?.approvalId;
  const [isUnfolded, setIsUnfolded] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const picker = useRef<HTMLSpanElement>(null);
  const folded = isUnfolded ? 'unfolded' : 'folded';
  const fold = busy ? folded : 'none';
  useLayoutEffect(() => setIsUnfolded(false), [busy, question]);
  useLayoutEffect(() => {
    const focused = document.activeElement;
    // Where nothing is hidden, the button is not drawn and does not take the focus.
    if (fold === 'folded' && picker.current?.contains(focused)) button.current?.focus({ preventScroll: true });
    if (fold === 'none' && button.current === focused)
      picker.current?.querySelector('select')?.focus({ preventScroll: true });
  }, [fold]);
  return { fold, button, picker, toggle: () => setIsUnfolded(!isUnfolded) };
}

interface Hint {
  text: string;
  /** It says what keys do. */
  isOfKeys?: true;
}

function toHint({ app, tab, conversation: { state } }: Pick<ComposerRowProps, 'app' | 'tab' | 'conversation'>): Hint {
  const draft = tab.draft.value;
  if (app.lost.value)
    return { text: tab.sending.value.length === 0 ? 'Disconnected' : 'Will be sent once reconnected' };
  if (state === 'attention') return { text: 'Waiting for your decision' };
  if (isBusy(state) && (draft.trim() === '' || isCommand(draft))) return { text: 'Working' };
  if (isBusy(state)) return { text: 'Enter queues, Ctrl+Enter steers', isOfKeys: true };
  return draft === '' ? { text: '' } : { text: 'Enter to send, Shift+Enter for a new line', isOfKeys: true };
}
