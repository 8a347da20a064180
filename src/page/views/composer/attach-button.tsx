import type { Desk } from '../../state/app.ts';
import { toPastedFile } from '../../state/composer/long-paste.ts';
import type { Tab } from '../../state/tab.ts';
import { Icon } from '../icons.tsx';
import type { Pasted } from './pasted-notice.tsx';

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

interface Taker {
  desk: Desk;
  tab: Tab;
  /** A long text became a file. */
  onPasted(pasted: Pasted): void;
}

/** Handlers for an element that accepts pasted or dropped files. A pasted text goes to the field, or becomes a file if it is long. */
export const takesFiles = ({ desk, tab, onPasted }: Taker) => {
  const take = (event: Event, files: FileList | undefined) => {
    if (!files || files.length === 0) return;
    event.preventDefault();
    void desk.chips.attach(tab, [...files]);
  };
  return {
    onPaste: (event: ClipboardEvent) => {
      take(event, event.clipboardData?.files);
      if (event.defaultPrevented) return;
      const text = event.clipboardData?.getData('text/plain') ?? '';
      const file = toPastedFile(
        text,
        tab.chips.peek().map(({ name }) => name),
      );
      if (!file) return;
      event.preventDefault();
      onPasted({ name: file.name, text });
      void desk.chips.attach(tab, [file]);
    },
    onDrop: (event: DragEvent) => take(event, event.dataTransfer?.files),
    onDragOver: (event: DragEvent) => {
      if (event.dataTransfer?.types.includes('Files')) event.preventDefault(); // or the browser would open the file
    },
  };
};
