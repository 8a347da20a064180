import { useState } from 'preact/hooks';
import type { Desk } from '../../state/app.ts';
import type { AskedTurn } from '../../state/conversation/asked-turn.ts';
import type { UserBlock } from '../../state/conversation/blocks.ts';
import type { Tab } from '../../state/tab.ts';
import { Icon, type IconName } from '../icons.tsx';
import { Attachments } from './attachments.tsx';
import { MessageEditor } from './message-editor.tsx';

interface QuestionProps {
  block: UserBlock;
  /** Undefined if nothing can be done with the message. */
  turn: AskedTurn | undefined;
  isBusy: boolean;
  desk: Desk;
  tab: Tab;
}

/** A message of a person, and what can be done with it. */
export function Question({ block, turn, isBusy, desk, tab }: QuestionProps) {
  const [isEditing, setEditing] = useState(false);
  const { text, source, attachments, failed } = block;
  return (
    <div class="block user">
      <span class="hidden-text">You:</span>
      {source !== 'person' && <span class="source">{source === 'cron' ? 'scheduled' : 'from a program'}</span>}
      {attachments && <Attachments wsId={tab.wsId} files={attachments} />}
      {turn && isEditing ? (
        <MessageEditor
          text={text}
          send={(message) => desk.actions.edit(tab, { seq: turn.seq, message })}
          onDone={() => setEditing(false)}
        />
      ) : (
        text
      )}
      {failed && (
        <span class="failed" title={failed.text}>
          Not answered, and no longer sent to the model
        </span>
      )}
      {turn && !isEditing && (
        <QuestionActions
          block={block}
          turn={turn}
          isBusy={isBusy}
          desk={desk}
          tab={tab}
          edit={() => setEditing(true)}
        />
      )}
    </div>
  );
}

function QuestionActions(props: QuestionProps & { turn: AskedTurn; edit(): void }) {
  const { block, turn, isBusy, desk, tab, edit } = props;
  const { actions } = desk;
  // Browsers allow clipboard access only on https and localhost.
  const copy = navigator.clipboard && (() => void navigator.clipboard.writeText(block.text));
  return (
    <span class="message-actions">
      {copy && <Action name="Copy this message" icon="copy" run={copy} />}
      <Action name="Edit and send again" icon="pencil" run={edit} disabled={isBusy} />
      {turn.isLast && (
        <Action
          name={block.failed ? 'Send again' : 'Answer again'}
          icon="play"
          run={() => void actions.retry(tab)}
          disabled={isBusy}
        />
      )}
      <Action name="Continue in a copy" icon="exit" run={() => void actions.fork(tab, turn.endSeq)} disabled={isBusy} />
      {block.failed && (
        <Action name="Remove" icon="bin" run={() => void actions.remove(tab, turn.seq)} disabled={isBusy} />
      )}
    </span>
  );
}

interface ActionProps {
  name: string;
  icon: IconName;
  disabled?: boolean;
  run(): void;
}

const Action = ({ name, icon, disabled = false, run }: ActionProps) => (
  <button type="button" class="quiet" aria-label={name} title={name} disabled={disabled} onClick={run}>
    <Icon name={icon} />
  </button>
);
