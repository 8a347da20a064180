import type { ComponentChildren } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import type { Desk } from '../../state/app.ts';
import type { Tab } from '../../state/tab.ts';
import { FileBoard } from '../../state/workspace/file-board.ts';
import type { FileTarget } from '../../state/workspace/file-reference.ts';
import { GitUndo } from '../../state/workspace/git-undo.ts';
import styles from '../../styles/files.css?inline';
import { adoptStyles } from '../parts/adopt-styles.ts';
import { ReadingNotice } from '../reading-notice.tsx';
import { FileSearch } from './file-search.tsx';
import { FileTree } from './file-tree.tsx';
import { FileViewer } from './file-viewer.tsx';
import { GitChanges } from './git-changes.tsx';

adoptStyles(styles);

interface FilesProps {
  mayWrite: boolean;
  desk: Desk;
  tab: Tab;
  target: FileTarget;
  /** What runs changed, which is a part of the page, too. */
  runChanges: ComponentChildren;
}

/** The files of the workstream, or what has changed. */
export function FilesView({ mayWrite, desk, tab, target, runChanges }: FilesProps) {
  const { client, newKey } = desk;
  const { wsId } = tab;
  const board = useMemo(() => new FileBoard({ client, wsId }), [client, wsId]);
  const undo = useMemo(() => new GitUndo({ client, wsId, board, newKey }), [client, wsId, board, newKey]);
  useEffect(() => void board.openRoot(), [board]);
  useEffect(() => {
    if (target.view === 'changes') void board.readChanges();
    else if (target.path !== undefined) void board.open(target.path, target.line);
    else board.closeFile();
  }, [board, target]);
  const show = (next: FileTarget) => {
    tab.aside.value = next;
  };
  return (
    <div class="files">
      <ViewChoice view={target.view} show={show} />
      <ReadingNotice of={[board.reading]} />
      <p class="problem" role="alert">
        {board.problem.value}
      </p>
      {target.view === 'changes' ? (
        <>
          <GitChanges board={board} undo={mayWrite ? undo : undefined} />
          <h3 class="files-title">Changes of runs</h3>
          {runChanges}
        </>
      ) : board.file.value ? (
        <FileViewer board={board} file={board.file.value} line={target.line} onBack={() => show({ view: 'files' })} />
      ) : (
        <>
          <FileSearch board={board} onOpen={(path) => show({ view: 'files', path })} />
          {board.found.value === undefined && (
            <FileTree board={board} onOpen={(path) => show({ view: 'files', path })} />
          )}
        </>
      )}
    </div>
  );
}

const VIEWS = { files: 'Files', changes: 'Changes' } as const;

const ViewChoice = ({ view, show }: { view: FileTarget['view']; show(target: FileTarget): void }) => (
  <div class="files-views">
    {(['files', 'changes'] as const).map((one) => (
      <button key={one} type="button" class="quiet" aria-pressed={one === view} onClick={() => show({ view: one })}>
        {VIEWS[one]}
      </button>
    ))}
  </div>
);
