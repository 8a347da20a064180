import type { Desk } from '../../state/app.ts';
import type { Tab } from '../../state/tab.ts';
import { Icon } from '../icons.tsx';

/** Opens a file chooser. Files can also be pasted or dropped. */
export function AttachButton({ desk, tab }: { desk: Desk; tab: Tab }) {
  return (
    <label class="attach quiet" title="Attach images or text files">
      <Icon name="clip" />
      <span class="hidden-text">Attach files</span>
      <input
        type="file"
        multiple
        onChange={({ currentTarget }) => {
          void desk.chips.attach(tab, [...(currentTarget.files ?? [])]);
          currentTarget.value = ''; // so that the same file can be chosen again
        }}
      />
    </label>
  );
}

/** Handlers for an element that accepts pasted or dropped files. Pasted text still goes to the field. */
export const takesFiles = ({ desk, tab }: { desk: Desk; tab: Tab }) => {
  const take = (event: Event, files: FileList | undefined) => {
    if (!files || files.length === 0) return;
    event.preventDefault();
    void desk.chips.attach(tab, [...files]);
  };
  return {
    onPaste: (event: ClipboardEvent) => take(event, event.clipboardData?.files),
    onDrop: (event: DragEvent) => take(event, event.dataTransfer?.files),
    onDragOver: (event: DragEvent) => {
      if (event.dataTransfer?.types.includes('Files')) event.preventDefault(); // or the browser would open the file
    },
  };
};
