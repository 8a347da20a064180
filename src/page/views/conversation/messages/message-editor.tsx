import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { BegunEdit } from '../../../state/composer/begun-edit.ts';

interface MessageEditorProps {
  /** What the person has written so far. */
  begun: BegunEdit;
  /** The person has just opened it. */
  isNew: boolean;
  /** What saving does. */
  hint: string;
  /** The label of the button that saves. */
  confirm: string;
  /** Returns false if it was refused. */
  send(message: string): Promise<boolean>;
  onDone(): void;
}

/** A field to change a message. Ctrl+Enter sends it, Escape cancels. */
export function MessageEditor({ begun, isNew, hint, confirm, send, onDone }: MessageEditorProps) {
  const [text] = useState(begun.peek() ?? '');
  const field = useRef<HTMLTextAreaElement>(null);
  const isSending = useRef(false);
  useLayoutEffect(() => {
    if (isNew) field.current?.focus(); // otherwise a person scrolls past, who may be typing elsewhere
  }, []);
  const submit = async () => {
    if (isSending.current) return;
    isSending.current = true;
    const isTaken = await send(field.current?.value ?? '');
    isSending.current = false;
    if (isTaken) onDone();
  };
  return (
    <form
      class="message-editor"
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <textarea
        ref={field}
        aria-label="Edited message"
        rows={Math.min(12, text.split('\n').length + 1)}
        defaultValue={text}
        onInput={({ currentTarget }) => {
          begun.value = currentTarget.value;
        }}
        onKeyDown={(event) => {
          event.stopPropagation(); // the keys of the page do not apply here
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void submit();
          if (event.key !== 'Escape' || event.isComposing) return;
          event.preventDefault();
          onDone();
        }}
      />
      <p class="hint">{hint}</p>
      <button type="submit">{confirm}</button>
      <button type="button" class="quiet" onClick={onDone}>
        Cancel
      </button>
    </form>
  );
}
