import { useSignal } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { isBusy } from '../../../../protocol/is-busy.ts';
import type { App, Desk } from '../../state/app.ts';
import { isUploading } from '../../state/chips.ts';
import type { Suggestion } from '../../state/commands.ts';
import { findPendingApproval } from '../../state/conversation/blocks.ts';
import type { Conversation } from '../../state/conversation/conversation.ts';
import type { Tab } from '../../state/tab.ts';
import { LazyPiece } from '../parts/lazy-views.tsx';
import { QUEUE } from '../parts/parts.ts';
import { takesFiles } from './attach-button.tsx';
import { ChipList } from './chip-list.tsx';
import { ComposerRow } from './composer-row.tsx';
import { type Pasted, PastedNotice } from './pasted-notice.tsx';
import { useHistory } from './use-history.ts';
import { useSuggestions } from './use-suggestions.ts';

interface ComposerProps {
  app: App;
  desk: Desk;
  tab: Tab;
  conversation: Conversation;
}

/**
 * The message field. Enter sends, Shift+Enter starts a new line. During a run, messages wait in the queue, or steer the run with
 * Ctrl+Enter; commands are sent at once.
 */
export function Composer({ app, desk, tab, conversation }: ComposerProps) {
  const field = useRef<HTMLTextAreaElement>(null);
  const suggestions = useSuggestions({ desk, tab });
  const { offered, active } = suggestions;
  const draft = tab.draft.value;
  const pasted = useSignal<Pasted | undefined>(undefined);
  const busy = isBusy(conversation.state);
  const chips = tab.chips.value;
  const isSomething = draft.trim() !== '' || chips.length > 0;
  const mayGo = isSomething && !isUploading(chips);
  useLayoutEffect(() => fitHeight(field.current), [draft]);
  const { isSubstitute } = desk.workstreams;
  useEffect(() => {
    // What is being written was meant for another conversation.
    if (!isSubstitute.peek()) takeFocus(field.current);
  }, [conversation.state === 'attention']);
  const question = findPendingApproval(conversation.blocks)?.approvalId;
  const [isShort, setIsShort] = useState(false);
  // Nothing changes for a person who is writing: neither now nor when they press a button of the question.
  useLayoutEffect(() => setIsShort(question !== undefined && document.activeElement !== field.current), [question]);
  const submit = (how?: { steer: true }) => {
    if (mayGo) void desk.actions.submit(tab, how);
  };
  const recall = useHistory(tab, conversation);
  const onKeyDown = (event: KeyboardEvent) => {
    if (suggestions.onKeyDown(event) || recall(event)) return;
    if (event.key !== 'Enter' || event.shiftKey || event.altKey || event.isComposing) return;
    event.preventDefault();
    submit(busy && (event.ctrlKey || event.metaKey) ? { steer: true } : undefined);
  };
  return (
    <footer class={`composer ${question === undefined ? '' : 'asked'}`}>
      <div class="composer-column">
        <p class="problem" role="alert">
          {tab.problem.value}
        </p>
        <WaitingMessages desk={desk} tab={tab} />
        <CommandList offered={offered} active={active} onTake={suggestions.take} />
        <form
          class="composer-box"
          {...takesFiles({
            desk,
            tab,
            onPasted: (text) => {
              pasted.value = text;
            },
          })}
          onSubmit={(event) => {
            event.preventDefault();
            submit();
          }}
        >
          <ChipList desk={desk} tab={tab} />
          <PastedNotice desk={desk} tab={tab} pasted={pasted} />
          <textarea
            ref={field}
            id="message"
            class={isShort ? 'short' : ''}
            rows={1}
            aria-label="Message"
            aria-describedby="composer-hint"
            aria-autocomplete="list"
            aria-controls="commands"
            aria-activedescendant={offered.length > 0 ? `command-${active}` : undefined}
            enterkeyhint="send"
            placeholder={busy ? 'Write the next message…' : 'Message, or / for commands'}
            value={draft}
            onFocus={() => setIsShort(false)}
            onInput={({ currentTarget }) => {
              tab.draft.value = currentTarget.value;
            }}
            onKeyDown={onKeyDown}
          />
          <ComposerRow app={app} desk={desk} tab={tab} conversation={conversation} mayGo={mayGo} />
        </form>
      </div>
    </footer>
  );
}

interface CommandListProps {
  offered: readonly Suggestion[];
  active: number;
  onTake(suggestion: Suggestion): void;
}

/**
 * The list of a combobox whose field is the composer. The focus stays in the field; the list marks the active
 * suggestion.
 */
function CommandList({ offered, active, onTake }: CommandListProps) {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' }), [active]);
  return (
    <>
      <div
        ref={list}
        class={`commands ${offered.length === 0 ? 'none' : ''}`}
        id="commands"
        role="listbox"
        aria-label="Commands"
      >
        {offered.map((suggestion, index) => (
          <button
            key={suggestion.draft}
            id={`command-${index}`}
            type="button"
            role="option"
            class="quiet"
            tabIndex={-1}
            aria-selected={index === active}
            onPointerDown={(event) => event.preventDefault()} // the focus stays in the field
            onClick={() => onTake(suggestion)}
          >
            <b>{suggestion.label}</b> <span>{suggestion.hint}</span>
          </button>
        ))}
      </div>
      <p class="hidden-text" role="status">
        {offered.length > 0 && `${offered.length} suggestions; arrow keys to choose, Tab to insert`}
      </p>
    </>
  );
}

/** Focuses the field, unless the focus is elsewhere or would open an on-screen keyboard. */
function takeFocus(field: HTMLTextAreaElement | null): void {
  const isFree = document.activeElement === null || document.activeElement === document.body;
  if (isFree && matchMedia('(pointer: fine)').matches) field?.focus({ preventScroll: true });
}

const MAX_HEIGHT_PX = 220;

/** The box keeps its height while the text is measured: a conversation that grew meanwhile would move, as if scrolled by hand. */
function fitHeight(field: HTMLTextAreaElement | null): void {
  const box = field?.parentElement;
  if (!field || !box) return;
  box.style.minHeight = `${box.getBoundingClientRect().height}px`;
  field.style.height = 'auto';
  field.style.height = `${Math.min(field.scrollHeight, MAX_HEIGHT_PX)}px`;
  box.style.minHeight = '';
}

/** Loaded with the first waiting message. It stays then, because it also says that there are none any more. */
function WaitingMessages({ desk, tab }: Pick<ComposerProps, 'desk' | 'tab'>) {
  const wasUsed = useRef(false);
  wasUsed.current ||= tab.queue.value.length > 0;
  if (!wasUsed.current) return null;
  return (
    <LazyPiece part={QUEUE} desk={desk}>
      {({ QueueList }) => <QueueList desk={desk} tab={tab} />}
    </LazyPiece>
  );
}
