import type { ComponentChildren } from 'preact';
import { useEffect, useId, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import type { Desk } from '../../state/app.ts';
import type { Tab } from '../../state/tab.ts';
import { FileBoard } from '../../state/workspace/file-board.ts';
import type { FileTarget } from '../../state/workspace/file-reference.ts';
import styles from '../../styles/files.css?inline';
import { fileOpenerOf, InConversation } from '../conversation/conversation-context.ts';
import { Dialog } from '../dialogs/dialog.tsx';
import { Icon } from '../icons.tsx';
import { adoptStyles } from '../parts/adopt-styles.ts';
import { ReadingNotice } from '../reading-notice.tsx';
import { FileSearch } from './file-search.tsx';
import { FileTree } from './file-tree.tsx';
import { FileViewer } from './file-viewer.tsx';
import { GitChanges } from './git-changes.tsx';

adoptStyles(styles);

interface FilesProps {
  desk: Desk;
  tab: Tab;
  target: FileTarget;
  /** What runs changed, which is a part of the page, too. */
  runChanges: ComponentChildren;
  onClose(): void;
}

/** The files of the workstream, over everything else. */
export const FilesDialog = (props: FilesProps) => (
  <Dialog title="Files" onClose={props.onClose}>
    <Files {...props} />
  </Dialog>
);

/** The files of the workstream beside the conversation. Escape and its close button close it. */
export function FilesPane(props: FilesProps) {
  const titleId = useId();
  const heading = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => {
    const before = document.activeElement;
    heading.current?.focus();
    return () => {
      if (before instanceof HTMLElement && before.checkVisibility()) before.focus();
    };
  }, []);
  return (
    <aside
      class="files-pane"
      aria-labelledby={titleId}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || event.defaultPrevented) return;
        event.preventDefault();
        props.onClose();
      }}
    >
      <header class="files-head">
        <h2 id={titleId} ref={heading} tabIndex={-1}>
          Files
        </h2>
        <button type="button" class="quiet icon-only" aria-label="Close" title="Close (Esc)" onClick={props.onClose}>
          <Icon name="close" />
        </button>
      </header>
      <div class="files-scroll">
        <Files {...props} />
      </div>
    </aside>
  );
}

/** Whether diffs are shown side by side here: a pane is too narrow for it, unless the person chooses it. */
const NARROW = new Map([['diffs beside each other', false]]);

function Files({ desk, tab, target, runChanges }: FilesProps) {
  const { client } = desk;
  const { wsId } = tab;
  const board = useMemo(() => new FileBoard({ client, wsId }), [client, wsId]);
  const context = useMemo(
    () => ({ wsId, client, remembered: NARROW, goToEnd: () => undefined, openFile: fileOpenerOf(tab, true) }),
    [wsId, client, tab],
  );
  useEffect(() => void board.openRoot(), [board]);
  useEffect(() => {
    if (target.view === 'changes') void board.readChanges();
    else if (target.path !== undefined) void board.open(target.path, target.line);
    else board.closeFile();
  }, [board, target]);
  const show = (next: FileTarget) => {
    tab.files.value = next;
  };
  return (
    <InConversation.Provider value={context}>
      <div class="files">
        <ViewChoice view={target.view} show={show} />
        <ReadingNotice of={[board.reading]} />
        <p class="problem" role="alert">
          {board.problem.value}
        </p>
        {target.view === 'changes' ? (
          <>
            <GitChanges board={board} />
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
    </InConversation.Provider>
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
