import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import type { Desk } from '../../../state/app.ts';
import { begunEditOf } from '../../../state/composer/begun-edit.ts';
import type { AskedTurn } from '../../../state/conversation/asked-turn.ts';
import type { UserBlock } from '../../../state/conversation/blocks.ts';
import type { Tab } from '../../../state/tab.ts';
import { showHidden } from '../../../state/text/hidden-characters.ts';
import { Attachments } from '../attachments.tsx';
import { MessageActions } from './message-actions.tsx';
import { MessageEditor } from './message-editor.tsx';

interface QuestionProps {
  block: UserBlock;
  /** Undefined if nothing can be done with the message. */
  turn: AskedTurn | undefined;
  isBusy: boolean;
  mayWrite: boolean;
  desk: Desk;
  tab: Tab;
}

/** A message of a person, and what can be done with it. */
export function Question({ block, turn, isBusy, mayWrite, desk, tab }: QuestionProps) {
  const { text, source, attachments, failed } = block;
  const seq = turn?.seq;
  const begun = useMemo(() => (seq === undefined ? undefined : begunEditOf(tab, { seq })), [tab, seq]);
  const isEditing = begun?.value !== undefined;
  const wasEditing = useRef(false);
  const isNew = useRef(false);
  const edit = (isOpen: boolean) => {
    wasEditing.current = !isOpen;
    isNew.current = isOpen;
    if (begun) begun.value = isOpen ? text : undefined;
  };
  useLayoutEffect(() => {
    isNew.current = false; // the field has the focus
  });
  return (
    <div class="block user">
      <span class="hidden-text">You:</span>
      {source !== 'person' && <span class="source">{source === 'cron' ? 'scheduled' : 'from a program'}</span>}
      {attachments && <Attachments wsId={tab.wsId} files={attachments} />}
      {turn && begun && isEditing ? (
        <MessageEditor
          begun={begun}
          isNew={isNew.current}
          hint="Everything after this message is taken back. Files stay as they are."
          confirm="Send"
          send={(message) => desk.actions.edit(tab, { seq: turn.seq, message })}
          onDone={() => edit(false)}
        />
      ) : (
        <div dir="auto">{showHidden(text)}</div>
      )}
      {failed && (
        <span class="failed" title={showHidden(failed.text)}>
          Not answered, and no longer sent to the model
        </span>
      )}
      {turn && !isEditing && (
        <MessageActions
          block={block}
          turn={turn}
          isBusy={isBusy}
          wasEditing={wasEditing.current}
          mayWrite={mayWrite}
          desk={desk}
          tab={tab}
          edit={() => edit(true)}
        />
      )}
    </div>
  );
}
