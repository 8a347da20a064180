import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import type { Desk } from '../state/app.ts';
import { findCommands, isCommand } from '../state/commands.ts';
import { type Conversation, isBusy } from '../state/conversation.ts';
import type { Tab } from '../state/tab.ts';
import { Icon } from './icons.tsx';
import { StopButton } from './stop-button.tsx';
import { TokenStatus } from './token-status.tsx';

interface ComposerProps {
  desk: Desk;
  tab: Tab;
  conversation: Conversation;
}

/** Where to type. Enter sends, Shift and Enter begin a new line, a command may be given at any time. */
export function Composer({ desk, tab, conversation }: ComposerProps) {
  const field = useRef<HTMLTextAreaElement>(null);
  const draft = tab.draft.value;
  const busy = isBusy(conversation.state);
  const mayGo = draft.trim() !== '' && (!busy || isCommand(draft)) && tab.sending.value === undefined;
  useLayoutEffect(() => fitHeight(field.current), [draft]);
  useEffect(() => takeFocus(field.current), [conversation.state === 'attention']);
  const submit = () => {
    if (mayGo) void desk.actions.submit(tab);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    submit();
  };
  return (
    <footer class="composer">
      <p class="problem" role="alert">
        {tab.problem.value}
      </p>
      <CommandHints tab={tab} field={field.current} />
      <form
        class="composer-box"
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <textarea
          ref={field}
          rows={1}
          aria-label="Message"
          aria-describedby="composer-hint"
          placeholder={busy ? 'Write the next message…' : 'Message, or / for commands'}
          value={draft}
          onInput={({ currentTarget }) => {
            tab.draft.value = currentTarget.value;
          }}
          onKeyDown={onKeyDown}
        />
        <div class="composer-row">
          <TokenStatus status={conversation.status} />
          <span class="composer-hint" id="composer-hint">
            {toHint(conversation, draft)}
          </span>
          {busy ? (
            <StopButton desk={desk} tab={tab} />
          ) : (
            <button type="submit" class="primary round" aria-label="Send" title="Send" disabled={!mayGo}>
              <Icon name="send" />
            </button>
          )}
        </div>
      </form>
    </footer>
  );
}

function CommandHints({ tab, field }: { tab: Tab; field: HTMLTextAreaElement | null }) {
  const commands = findCommands(tab.draft.value);
  if (commands.length === 0) return null;
  return (
    <ul class="commands" aria-label="Commands">
      {commands.map(({ name, hint }) => (
        <li key={name}>
          <button
            type="button"
            class="quiet"
            onClick={() => {
              tab.draft.value = name === '/help' || name === '/clear' || name === '/new' ? name : `${name} `;
              field?.focus();
            }}
          >
            <b>{name}</b> <span>{hint}</span>
          </button>
        </li>
      ))}
    </ul>
  );
}

function toHint({ state }: Conversation, draft: string): string {
  if (state === 'attention') return 'Waiting for your decision';
  if (isBusy(state)) return draft.trim() === '' ? 'Working' : 'Working: send when it is done';
  return draft === '' ? '' : 'Enter sends, Shift+Enter for a new line';
}

/** Typing goes on here, unless the focus is somewhere already or would bring up a keyboard on glass. */
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
