import { showHidden } from '../../state/text/hidden-characters.ts';
import type { GitUndo } from '../../state/workspace/git-undo.ts';

/** What happens to a file, before it happens. */
export function GitUndoQuestion({ undo, path }: { undo: GitUndo; path: string }) {
  const asked = undo.asked.value;
  if (asked?.path !== path) return null;
  const mayUndo = asked.seen !== undefined;
  return (
    <form
      class="git-undo"
      aria-label={`Undo the changes of ${showHidden(path)}`}
      onSubmit={(event) => {
        event.preventDefault();
        void undo.confirm();
      }}
    >
      <p role="status">{asked.words}</p>
      {mayUndo && (
        <button type="submit" class="primary">
          Undo
        </button>
      )}
      <button type="button" class="quiet" onClick={() => undo.keep()}>
        {mayUndo ? 'Cancel' : 'Close'}
      </button>
    </form>
  );
}

/** What the last change did, with a way back. */
export function GitUndoOutcome({ undo }: { undo: GitUndo }) {
  const putBack = undo.putBack.value;
  return (
    <>
      <p class="problem" role="alert">
        {undo.problem.value}
      </p>
      <div class="git-undo">
        <p class="soft" role="status">
          {undo.done.value}
        </p>
        {putBack && (
          <button type="button" class="quiet" onClick={() => void undo.bringBack()}>
            {`Bring back ${showHidden(putBack.path)}`}
          </button>
        )}
      </div>
    </>
  );
}
