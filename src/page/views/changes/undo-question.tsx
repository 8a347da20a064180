import { useSignal } from '@preact/signals';
import type { Choices, Previewed, RunChanges } from '../../state/changes/run-changes.ts';
import { showHidden } from '../../state/text/hidden-characters.ts';

interface UndoQuestionProps {
  asked: { direction: 'undo' | 'redo'; preview: Previewed };
  changes: RunChanges;
}

const REASONS = {
  changed: 'changed since',
  removed: 'removed since',
  created: 'created since',
  unknown: 'no snapshot shows how the run left it, so it may have changed',
} as const;

const BECOMES = { added: 'comes back', modified: 'changes', deleted: 'is deleted' } as const;

/** Lists what will change, asks about each conflict, and does it. */
export function UndoQuestion({ asked: { direction, preview }, changes }: UndoQuestionProps) {
  const choices = useSignal<Choices>(new Map());
  const { conflicts, missing } = preview;
  const isDecided = conflicts.every(({ path }) => choices.value.has(path));
  const confirm = () => changes.confirm(new Map([...choices.value].filter(([path]) => isConflict(preview, path))));
  return (
    <form
      class="undo-question"
      onSubmit={(event) => {
        event.preventDefault();
        if (isDecided) void confirm();
      }}
    >
      <p>{direction === 'undo' ? 'Take back what the last run changed?' : 'Bring back what was taken back?'}</p>
      <ul aria-label="What will change">
        {preview.changes.map(({ path, change }) => (
          <li key={path}>
            <bdi class="changed-path">{showHidden(path)}</bdi> <span class="soft">{BECOMES[change]}</span>
          </li>
        ))}
      </ul>
      {conflicts.map(({ path, reason }) => (
        <label class="conflict" key={path}>
          <span>
            <bdi class="changed-path">{showHidden(path)}</bdi> <span class="soft">{REASONS[reason]}</span>
          </span>
          <select
            aria-label={`What happens to ${showHidden(path)}`}
            value={choices.value.get(path) ?? ''}
            onChange={({ currentTarget }) => {
              const choice = currentTarget.value === 'overwrite' ? 'overwrite' : 'keep';
              choices.value = new Map([...choices.value, [path, choice]]);
            }}
          >
            <option value="" disabled>
              Choose…
            </option>
            <option value="keep">Keep as it is</option>
            <option value="overwrite">Overwrite</option>
          </select>
        </label>
      ))}
      {missing.length > 0 && <p class="soft">{`Cannot be restored: ${missing.map(showHidden).join(', ')}`}</p>}
      <div class="run-buttons">
        <button type="submit" class="primary" aria-disabled={!isDecided}>
          {direction === 'undo' ? 'Undo' : 'Redo'}
        </button>
        <button type="button" class="quiet" onClick={() => changes.keep()}>
          Cancel
        </button>
      </div>
    </form>
  );
}

const isConflict = ({ conflicts }: Previewed, path: string): boolean => conflicts.some((each) => each.path === path);
