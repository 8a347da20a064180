import type { Desk } from '../../state/app.ts';
import { Icon } from '../icons.tsx';

/** Says which conversation is being deleted, while that can be undone, or why it could not be deleted. */
export function UndoNotice({ desk }: { desk: Desk }) {
  const { removals } = desk.rail;
  const last = removals.last.value;
  return (
    <div class="undo-notice" role="status">
      {last && (
        <>
          <span class={last.problem === undefined ? '' : 'problem'}>
            {last.problem === undefined ? `“${last.name}” deleted` : `“${last.name}” was not deleted: ${last.problem}`}
          </span>
          {last.problem === undefined ? (
            <button type="button" onClick={() => removals.undo()}>
              Undo
            </button>
          ) : (
            <button type="button" class="quiet icon-only" aria-label="Dismiss" onClick={() => removals.dismiss()}>
              <Icon name="close" />
            </button>
          )}
        </>
      )}
    </div>
  );
}
