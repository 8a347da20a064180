import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Desk } from '../state/app.ts';
import type { SavedRow } from '../state/workstreams.ts';
import { Dialog } from './dialog.tsx';

/** Conversations that are stored and not open, to be reopened. */
export function SavedDialog({ desk, onClose }: { desk: Desk; onClose(): void }) {
  const rows = useSignal<readonly SavedRow[] | undefined>(undefined);
  const problem = useSignal<string | undefined>(undefined);
  const tell = (error: unknown) => {
    problem.value = error instanceof Error ? error.message : String(error);
  };
  useEffect(() => {
    desk.workstreams.saved().then((saved) => {
      rows.value = saved;
    }, tell);
  }, []);
  const reopen = (row: SavedRow) => void desk.workstreams.create({ resumeWs: row.wsId }).then(onClose, tell);
  return (
    <Dialog title="Saved conversations" onClose={onClose}>
      <p class="problem" role="alert">
        {problem.value}
      </p>
      {rows.value?.length === 0 && <p class="empty">Nothing is saved besides what is open.</p>}
      <ul class="saved">
        {rows.value?.map((row) => (
          <li key={row.wsId}>
            <button type="button" class="quiet" onClick={() => reopen(row)}>
              <span class="saved-name">{row.title ?? row.name}</span>
              <span class="saved-when">
                {`${row.messageCount} message${row.messageCount === 1 ? '' : 's'} · ${toDate(row.updatedMs)}`}
              </span>
            </button>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}

const toDate = (ms: number) => new Date(ms).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' });
