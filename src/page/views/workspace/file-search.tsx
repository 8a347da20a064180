import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { systemTimers } from '../../../../protocol/client/timers.ts';
import { showHidden } from '../../state/text/hidden-characters.ts';
import type { FileBoard } from '../../state/workspace/file-board.ts';
import { toCount } from '../panel.tsx';

interface FileSearchProps {
  board: FileBoard;
  onOpen(path: string): void;
}

const PAUSE_MS = 150;

/** Finds files by letters of their paths. Enter opens the first one. */
export function FileSearch({ board, onOpen }: FileSearchProps) {
  const query = useSignal('');
  const words = query.value;
  useEffect(() => systemTimers.after(PAUSE_MS, () => void board.search(words)), [board, words]);
  const found = board.found.value;
  return (
    <>
      <input
        type="search"
        class="files-search"
        aria-label="Find a file"
        placeholder="Find a file"
        value={words}
        onInput={({ currentTarget }) => {
          query.value = currentTarget.value;
        }}
        onKeyDown={(event) => {
          const [first] = board.found.peek() ?? [];
          if (event.key === 'Enter' && first !== undefined && !event.isComposing) onOpen(first);
        }}
      />
      <p class="soft" role="status">
        {found !== undefined && (toCount(found.length, 'file') || 'No file matches.')}
      </p>
      {found && (
        <ul class="files-found" aria-label="Files that match">
          {found.map((path) => (
            <li key={path}>
              <button type="button" class="quiet file-row" onClick={() => onOpen(path)}>
                <bdi>{showHidden(path)}</bdi>
              </button>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
