import type { FileBoard, FileChange, Repository } from '../../state/workspace/file-board.ts';
import { Icon } from '../icons.tsx';
import { PatchView } from '../text/patch-view.tsx';

/** What git reports about the folders of the workstream, with the diff of each file on demand. */
export function GitChanges({ board }: { board: FileBoard }) {
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
      {repositories?.length === 0 && <p class="soft">The folder is not the root of a git repository.</p>}
      {repositories?.map((repository) => (
        <Changed key={repository.path} repository={repository} board={board} />
      ))}
    </section>
  );
}

interface ChangedProps {
  repository: Repository;
  board: FileBoard;
}

function Changed({ repository: { path, branch, files, complete, without }, board }: ChangedProps) {
  const open = board.changes.value;
  return (
    <>
      <p class="soft">
        {path !== '.' && <bdi>{`${path}: `}</bdi>}
        {branch !== undefined && `branch ${branch}`}
        {without !== undefined && ` ${WITHOUT_WORDS[without]}`}
        {without === undefined &&
          files.length === 0 &&
          ' Nothing has changed. Files that differ from the last commit appear here.'}
      </p>
      <ul class="file-list" aria-label={`Changed files in ${path}`}>
        {files.map(({ path: file, staged, unstaged }) => (
          <li key={file}>
            <button
              type="button"
              class="quiet file-row"
              aria-expanded={open.has(file)}
              onClick={() => void board.toggleChange(file)}
            >
              <Icon name="chevron" />
              <bdi>{file}</bdi>
              {staged && <span class="tag">{`staged: ${staged}`}</span>}
              {unstaged && <span class="tag">{unstaged}</span>}
            </button>
            <Diff change={open.get(file)} />
          </li>
        ))}
      </ul>
      {!complete && <p class="soft">There are more changed files than are listed.</p>}
    </>
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
