import { useState } from 'preact/hooks';
import type { Desk } from '../../../state/app.ts';
import { type AskedTurn, toAnswerText } from '../../../state/conversation/asked-turn.ts';
import type { UserBlock } from '../../../state/conversation/blocks.ts';
import { toFragment } from '../../../state/finding/message-link.ts';
import type { Tab } from '../../../state/tab.ts';
import { Icon, type IconName } from '../../icons.tsx';
import { MessageTime } from './message-time.tsx';

interface MessageActionsProps {
  block: UserBlock;
  turn: AskedTurn;
  isBusy: boolean;
  /** The editor was closed: the button that opened it takes the focus. */
  wasEditing: boolean;
  /** Without it, the message can only be copied. */
  mayWrite: boolean;
  desk: Desk;
  tab: Tab;
  edit(): void;
}

/** What can be done with a message: shown on hover and focus; on a touch screen, behind a button. */
export function MessageActions({ block, turn, mayWrite, tab, ...others }: MessageActionsProps) {
  const [isOpen, setOpen] = useState(false);
  // Browsers allow clipboard access only on https and localhost.
  const copy = navigator.clipboard && ((text: string) => void (text !== '' && navigator.clipboard.writeText(text)));
  const answer = () => toAnswerText(tab.conversation.peek()?.blocks ?? [], block);
  return (
    <fieldset
      class={`message-actions ${isOpen ? 'open' : ''}`}
      aria-label="Message"
      onClick={() => setOpen(false)}
      onFocusOut={({ currentTarget, relatedTarget }) => {
        if (!(relatedTarget instanceof Node && currentTarget.contains(relatedTarget))) setOpen(false);
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || !isOpen) return;
        event.stopPropagation();
        setOpen(false);
      }}
    >
      <button
        type="button"
        class="quiet message-more"
        aria-label="What to do with this message"
        aria-expanded={isOpen}
        onClick={(event) => {
          event.stopPropagation();
          setOpen(!isOpen);
        }}
      >
        <Icon name="more" />
      </button>
      <span class="message-row">
        {block.sentMs !== undefined && <MessageTime of="message" atMs={block.sentMs} />}
        {copy && <Action name="Copy this message" icon="copy" run={() => copy(block.text)} />}
        {copy && <Action name="Copy the answer" icon="answer" run={() => copy(answer())} />}
        {copy && <Action name="Copy a link to this message" icon="link" run={() => copy(toAddress(tab, turn))} />}
        {mayWrite && <Changes block={block} turn={turn} tab={tab} {...others} />}
      </span>
    </fieldset>
  );
}

function Changes({ block, turn, isBusy, wasEditing, desk, tab, edit }: Omit<MessageActionsProps, 'mayWrite'>) {
  const { actions } = desk;
  return (
    <>
      <Action
        name="Edit and send again"
        icon="pencil"
        run={edit}
        disabled={isBusy}
        whenDrawn={wasEditing ? takeFocus : undefined}
      />
      {turn.isLast && (
        <Action
          name={block.failed ? 'Send again' : 'Answer again'}
          icon="again"
          run={() => void actions.retry(tab)}
          disabled={isBusy}
        />
      )}
      <Action name="Continue in a copy" icon="fork" run={() => void actions.fork(tab, turn.endSeq)} disabled={isBusy} />
      {block.failed && (
        <Action name="Remove" icon="bin" run={() => void actions.remove(tab, turn.seq)} disabled={isBusy} />
      )}
    </>
  );
}

const toAddress = ({ wsId }: Tab, { seq }: AskedTurn): string =>
  `${location.origin}${location.pathname}#${toFragment({ wsId, seq })}`;

interface ActionProps {
  name: string;
  icon: IconName;
  disabled?: boolean;
  run(): void;
  whenDrawn?: ((button: HTMLButtonElement | null) => void) | undefined;
}

const Action = ({ name, icon, disabled = false, run, whenDrawn }: ActionProps) => (
  <button
    ref={whenDrawn ?? null}
    type="button"
    class="quiet"
    aria-label={name}
    title={name}
    disabled={disabled}
    onClick={run}
  >
    <Icon name={icon} />
  </button>
);

const takeFocus = (button: HTMLButtonElement | null) => button?.focus({ preventScroll: true });
