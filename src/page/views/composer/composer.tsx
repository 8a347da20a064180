import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { isBusy } from '../../../../protocol/is-busy.ts';
import type { App, Desk } from '../../state/app.ts';
import { isUploading } from '../../state/chips.ts';
import { isCommand, type Suggestion } from '../../state/commands.ts';
import type { Conversation } from '../../state/conversation/conversation.ts';
import type { Tab } from '../../state/tab.ts';
import { Icon } from '../icons.tsx';
import { AttachButton, takesFiles } from './attach-button.tsx';
import { ChipList } from './chip-list.tsx';
import { ModelPicker } from './model-picker.tsx';
import { QueueList } from './queue-list.tsx';
import { StopButton } from './stop-button.tsx';
import { TokenStatus } from './token-status.tsx';
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
  const busy = isBusy(conversation.state);
  const chips = tab.chips.value;
  const isSomething = draft.trim() !== '' || chips.length > 0;
  const mayGo = isSomething && !isUploading(chips);
  const hint = toHint({ app, tab, conversation });
  useLayoutEffect(() => fitHeight(field.current), [draft]);
  useEffect(() => takeFocus(field.current), [conversation.state === 'attention']);
  const submit = (how?: { steer: true }) => {
    if (mayGo) void desk.actions.submit(tab, how);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (suggestions.onKeyDown(event)) return;
    if (event.key !== 'Enter' || event.shiftKey || event.altKey || event.isComposing) return;
    event.preventDefault();
    submit(busy && (event.ctrlKey || event.metaKey) ? { steer: true } : undefined);
  };
  return (
    <footer class="composer">
      <div class="composer-column">
        <p class="problem" role="alert">
          {tab.problem.value}
        </p>
        <QueueList desk={desk} tab={tab} />
        <CommandList offered={offered} active={active} onTake={suggestions.take} />
        <form
          class="composer-box"
          {...takesFiles({ desk, tab })}
          onSubmit={(event) => {
            event.preventDefault();
            submit();
          }}
        >
          <ChipList desk={desk} tab={tab} />
          <textarea
            ref={field}
            id="message"
            rows={1}
            aria-label="Message"
            aria-describedby="composer-hint"
            aria-autocomplete="list"
            aria-controls="commands"
            aria-activedescendant={offered.length > 0 ? `command-${active}` : undefined}
            enterkeyhint="send"
            placeholder={busy ? 'Write the next message…' : 'Message, or / for commands'}
            value={draft}
            onInput={({ currentTarget }) => {
              tab.draft.value = currentTarget.value;
            }}
            onKeyDown={onKeyDown}
          />
          <div class="composer-row">
            <AttachButton desk={desk} tab={tab} />
            <ModelPicker desk={desk} tab={tab} conversation={conversation} />
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

interface Hint {
  text: string;
  /** It says what keys do. */
  isOfKeys?: true;
}

function toHint({ app, tab, conversation: { state } }: Pick<ComposerProps, 'app' | 'tab' | 'conversation'>): Hint {
  const draft = tab.draft.value;
  if (app.lost.value)
    return { text: tab.sending.value.length === 0 ? 'Disconnected' : 'Will be sent once reconnected' };
  if (state === 'attention') return { text: 'Waiting for your decision' };
  if (isBusy(state) && (draft.trim() === '' || isCommand(draft))) return { text: 'Working' };
  if (isBusy(state)) return { text: 'Enter queues, Ctrl+Enter steers', isOfKeys: true };
  return draft === '' ? { text: '' } : { text: 'Enter to send, Shift+Enter for a new line', isOfKeys: true };
}

/** Focuses the field, unless the focus is elsewhere or would open an on-screen keyboard. */
function takeFocus(field: HTMLTextAreaElement | null): void {
  const isFree = document.activeElement === null || document.activeElement === document.body;
  if (isFree && matchMedia('(pointer: fine)').matches) field?.focus({ preventScroll: true });
}

const MAX_HEIGHT_PX = 220;

function fitHeight(field: HTMLTextAreaElement | null): void {
  if (!field) return;
  field.style.height = 'auto';
  field.style.height = `${Math.min(field.scrollHeight, MAX_HEIGHT_PX)}px`;
}
