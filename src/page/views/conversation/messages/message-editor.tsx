import { useLayoutEffect, useRef } from 'preact/hooks';

interface MessageEditorProps {
  text: string;
  /** What saving does. */
  hint: string;
  /** The label of the button that saves. */
  confirm: string;
  /** Returns false if it was refused. */
  send(message: string): Promise<boolean>;
  onDone(): void;
}

/** A field to change a message. Ctrl+Enter sends it, Escape cancels. */
export function MessageEditor({ text, hint, confirm, send, onDone }: MessageEditorProps) {
  const field = useRef<HTMLTextAreaElement>(null);
  const isSending = useRef(false);
  useLayoutEffect(() => field.current?.focus(), []);
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
