import { showHidden } from '../../state/text/hidden-characters.ts';
import type { FileBoard, FileChange, Repository } from '../../state/workspace/file-board.ts';
import type { GitUndo } from '../../state/workspace/git-undo.ts';
import { Icon } from '../icons.tsx';
import { PatchView } from '../text/patch-view.tsx';
import { GitUndoOutcome, GitUndoQuestion } from './git-undo-question.tsx';

interface GitChangesProps {
  board: FileBoard;
  /** Undefined for those who may only look. */
  undo: GitUndo | undefined;
}

/** What git reports about the folders of the workstream, with the diff of each file on demand, and its undo. */
export function GitChanges({ board, undo }: GitChangesProps) {
  const repositories = board.repositories.value;
  return (
    <section class="git-changes" aria-label="Changes since the last commit">
      <h3 class="files-title">
        Changes since the last commit
        <button
          type="button"
          class="quiet icon-only"
          aria-label="Read again"
          title="Read again"
          onClick={() => void board.readChanges()}
        >
          <Icon name="again" />
        </button>
      </h3>
      {undo && <GitUndoOutcome undo={undo} />}
      {repositories?.length === 0 && <p class="soft">The folder is not the root of a git repository.</p>}
      {repositories?.map((repository) => (
        <Changed key={repository.path} repository={repository} board={board} undo={undo} />
      ))}
    </section>
  );
}

interface ChangedProps extends GitChangesProps {
  repository: Repository;
}

function Changed({ repository: { path, branch, files, complete, without }, board, undo }: ChangedProps) {
  const open = board.changes.value;
  return (
    <>
      <p class="soft">
        {path !== '.' && <bdi>{`${showHidden(path)}: `}</bdi>}
        {branch !== undefined && `branch ${branch}`}
        {without !== undefined && ` ${WITHOUT_WORDS[without]}`}
        {without === undefined &&
          files.length === 0 &&
          ' Nothing has changed. Files that differ from the last commit appear here.'}
      </p>
      <ul class="file-list" aria-label={`Changed files in ${path}`}>
        {files.map((changed) => (
          <ChangedFile key={changed.path} changed={changed} change={open.get(changed.path)} board={board} undo={undo} />
        ))}
      </ul>
      {!complete && <p class="soft">There are more changed files than are listed.</p>}
    </>
  );
}

interface ChangedFileProps extends GitChangesProps {
  changed: Repository['files'][number];
  change: FileChange | undefined;
}

function ChangedFile({ changed, change, board, undo }: ChangedFileProps) {
  const { path, staged, unstaged } = changed;
  return (
    <li>
      <div class="git-file">
        <button
          type="button"
          class="quiet file-row"
          aria-expanded={change !== undefined}
          onClick={() => void board.toggleChange(path)}
        >
          <Icon name="chevron" />
          <bdi>{showHidden(path)}</bdi>
          {staged && <span class="tag">{`staged: ${staged}`}</span>}
          {unstaged && <span class="tag">{unstaged}</span>}
        </button>
        {undo && (
          <button
            type="button"
            class="quiet"
            aria-label={`Undo ${showHidden(path)}…`}
            onClick={() => void undo.ask(changed)}
          >
            Undo…
          </button>
        )}
      </div>
      {undo && <GitUndoQuestion undo={undo} path={path} />}
      <Diff change={change} />
    </li>
  );
}

function Diff({ change }: { change: FileChange | undefined }) {
  if (change === undefined) return null;
  if (change.without !== undefined) return <p class="soft">{DIFF_WORDS[change.without]}</p>;
  if (!change.diff) return <p class="soft">Only the permissions have changed, or the text is the same.</p>;
  return <PatchView text={change.diff} isDiff />;
}

const WITHOUT_WORDS = {
  elsewhere: 'A part of the repository lies outside the folders of this workstream, so its changes are not shown.',
  no_git: 'Git is not installed on the machine of the daemon.',
  failed: 'Git could not read the repository, or took too long.',
};

const DIFF_WORDS = {
  binary: 'Not text.',
  large: 'Too large to compare.',
  secret: 'Not shown, because it may hold secrets.',
};
