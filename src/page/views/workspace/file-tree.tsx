import { showHidden } from '../../state/text/hidden-characters.ts';
import type { FileBoard, Listing } from '../../state/workspace/file-board.ts';
import { Icon } from '../icons.tsx';

interface FileTreeProps {
  board: FileBoard;
  onOpen(path: string): void;
}

/** The folders of the workstream; the working directory is open at first. */
export function FileTree({ board, onOpen }: FileTreeProps) {
  const root = board.listings.value.get('.');
  if (!root) return <p class="soft">Loading…</p>;
  return (
    <>
      <Entries path="." listing={root} board={board} onOpen={onOpen} label="Working directory" />
      {board.added.map((path) => (
        <ul key={path} class="file-list" aria-label={`Folder ${path}`}>
          <Folder name={path} path={path} isIgnored={false} board={board} onOpen={onOpen} />
        </ul>
      ))}
    </>
  );
}

interface EntriesProps extends FileTreeProps {
  path: string;
  listing: Listing;
  label: string;
}

function Entries({ path, listing: { entries, total }, board, onOpen, label }: EntriesProps) {
  if (total === 0)
    return (
      <p class="soft file-empty">This folder is empty. Attach a file to a message, or ask the agent to write one.</p>
    );
  return (
    <ul class="file-list" aria-label={label}>
      {entries.map((entry) =>
        entry.kind === 'folder' && entry.path !== undefined ? (
          <Folder
            key={entry.name}
            name={entry.name}
            path={entry.path}
            isIgnored={entry.ignored}
            board={board}
            onOpen={onOpen}
          />
        ) : (
          <li key={entry.name}>
            <Entry entry={entry} onOpen={onOpen} />
          </li>
        ),
      )}
      {entries.length < total && (
        <li>
          <button type="button" class="quiet" onClick={() => void board.more(path)}>
            {`Show more of ${total.toLocaleString()} entries`}
          </button>
        </li>
      )}
    </ul>
  );
}

interface FolderProps extends FileTreeProps {
  name: string;
  path: string;
  isIgnored: boolean;
}

function Folder({ name, path, isIgnored, board, onOpen }: FolderProps) {
  const listing = board.listings.value.get(path);
  return (
    <li>
      <button
        type="button"
        class={`quiet file-row ${isIgnored ? 'ignored' : ''}`}
        aria-expanded={listing !== undefined}
        onClick={() => void board.toggle(path)}
      >
        <Icon name="chevron" />
        <Icon name="folder" />
        <bdi>{showHidden(name)}</bdi>
      </button>
      {listing && <Entries path={path} listing={listing} board={board} onOpen={onOpen} label={path} />}
    </li>
  );
}

interface EntryProps {
  entry: Listing['entries'][number];
  onOpen(path: string): void;
}

function Entry({ entry: { name, path, kind, sizeBytes, ignored, secret }, onOpen }: EntryProps) {
  const mayOpen = path !== undefined && (kind === 'file' || kind === 'link') && !secret;
  const note = secret ? 'may hold secrets' : kind === 'link' || kind === 'other' ? KINDS[kind] : toSize(sizeBytes);
  return (
    <button
      type="button"
      class={`quiet file-row ${ignored ? 'ignored' : ''}`}
      disabled={!mayOpen}
      onClick={() => path !== undefined && onOpen(path)}
    >
      <bdi>{showHidden(name)}</bdi>
      <span class="soft file-note">{note}</span>
    </button>
  );
}

const KINDS = { link: 'link', other: 'not a file' };

const UNITS = ['B', 'kB', 'MB', 'GB'];

function toSize(bytes = 0): string {
  const step = Math.min(UNITS.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  return `${Math.round(bytes / 1_000 ** step)} ${UNITS[step]}`;
}
