import { useEffect, useMemo } from 'preact/hooks';
import type { App, Desk } from '../../state/app.ts';
import { type Compared, RunChanges, type RunWithChanges } from '../../state/changes/run-changes.ts';
import type { Tab } from '../../state/tab.ts';
import { showHidden } from '../../state/text/hidden-characters.ts';
import { toMoment } from '../../state/text/moment.ts';
import css from '../../styles/changes.css?inline';
import { InConversation, rememberedOf } from '../conversation/conversation-context.ts';
import { Dialog } from '../dialogs/dialog.tsx';
import { adoptStyles } from '../parts/adopt-styles.ts';
import { ReadingNotice } from '../reading-notice.tsx';
import { PatchView } from '../text/patch-view.tsx';
import { UndoQuestion } from './undo-question.tsx';

adoptStyles(css);

interface RunChangesViewProps {
  app: App;
  desk: Desk;
  tab: Tab;
}

interface ChangesDialogProps extends RunChangesViewProps {
  onClose(): void;
}

/** What the runs of a workstream changed on disk. */
export const ChangesDialog = ({ app, desk, tab, onClose }: ChangesDialogProps) => (
  <Dialog title="Changes on disk" onClose={onClose}>
    <RunChangesView app={app} desk={desk} tab={tab} />
  </Dialog>
);

/** What the runs of a workstream changed on disk, and the buttons that take it back or bring it back. */
export function RunChangesView({ app, desk, tab }: RunChangesViewProps) {
  const { client, newKey } = desk;
  const { wsId } = tab;
  const changes = useMemo(() => new RunChanges({ client, wsId, newKey }), [client, wsId, newKey]);
  const context = useMemo(
    () => ({
      wsId,
      client,
      remembered: rememberedOf(tab),
      search: undefined,
      goToEnd: () => undefined,
      openAside: undefined,
      openFile: undefined, // what is shown is how the files were
    }),
    [wsId, client, tab],
  );
  useEffect(() => void changes.show(), [changes]);
  const listing = changes.runs.value;
  const compared = changes.compared.value;
  const asked = changes.asked.value;
  return (
    <InConversation.Provider value={context}>
      <div class="run-changes">
        <ReadingNotice of={[changes.reading]} />
        <p class="problem" role="alert">
          {changes.problem.value}
        </p>
        <p class="soft" role="status">
          {changes.done.value}
        </p>
        {listing && listing.checkpoints.length === 0 && (
          <p class="empty">
            {listing.enabled
              ? 'No run of this workstream has changed files yet. When one does, you can compare its changes here and take them back.'
              : 'No snapshots are taken: checkpoints.enabled is false in the configuration.'}
          </p>
        )}
        {asked ? (
          <UndoQuestion key={asked.direction} asked={asked} changes={changes} />
        ) : (
          <Buttons runs={listing?.checkpoints ?? []} mayWrite={app.rights.write.value} changes={changes} />
        )}
        {listing && listing.checkpoints.length > 0 && (
          <label class="run-choice">
            Run{' '}
            <select
              value={compared?.checkpoint.runId}
              onChange={({ currentTarget }) => void changes.show(currentTarget.value)}
            >
              {listing.checkpoints.map((run) => (
                <option key={run.runId} value={run.runId} disabled={run.state === 'open'}>
                  {toOption(run, app.now())}
                </option>
              ))}
            </select>
          </label>
        )}
        {compared && <ChangedFiles compared={compared} changes={app.rights.write.value ? changes : undefined} />}
      </div>
    </InConversation.Provider>
  );
}

interface ButtonsProps {
  runs: readonly RunWithChanges[];
  mayWrite: boolean;
  changes: RunChanges;
}

function Buttons({ runs, mayWrite, changes }: ButtonsProps) {
  if (!mayWrite) return null;
  const has = (state: RunWithChanges['state']) => runs.some((run) => run.state === state);
  return (
    <div class="run-buttons">
      {has('done') && (
        <button type="button" onClick={() => void changes.ask('undo')}>
          Undo the last run…
        </button>
      )}
      {has('undone') && (
        <button type="button" onClick={() => void changes.ask('redo')}>
          Redo…
        </button>
      )}
    </div>
  );
}

interface ChangedFilesProps {
  compared: Compared;
  /** Undefined for those who may only look. */
  changes: RunChanges | undefined;
}

function ChangedFiles({ compared: { checkpoint, files, leftOut }, changes }: ChangedFilesProps) {
  const mayChange = changes !== undefined && checkpoint.state === 'done';
  // A single diff says all that its line in the list would say.
  const listed = files.length === 1 && files[0]?.diff && !files[0].modes && !mayChange ? [] : files;
  return (
    <>
      <ul class="changed-files" aria-label="Changed files">
        {listed.map(({ path, change, additions, deletions, without, modes }) => (
          <li key={path}>
            <bdi class="changed-path">{showHidden(path)}</bdi>
            {change !== 'modified' && <span class="tag">{CHANGE_WORDS[change]}</span>}
            <span class="diff-count">
              {additions > 0 && <b class="added">{`+${additions}`}</b>}
              {deletions > 0 && <b class="removed">{`−${deletions}`}</b>}
            </span>
            {modes && (
              <span class="soft">{`permissions ${modes.before.toString(8)} → ${modes.after.toString(8)}`}</span>
            )}
            {without && <span class="soft">{WITHOUT_WORDS[without]}</span>}
            {mayChange && <FileButton path={path} changes={changes} />}
          </li>
        ))}
      </ul>
      {leftOut.length > 0 && (
        <p class="soft">
          {`Not in the snapshot, so an undo cannot restore them: ${leftOut.map(({ path }) => showHidden(path)).join(', ')}`}
        </p>
      )}
      {files.map(({ path, diff }) => diff && <PatchView key={path} text={diff} isDiff />)}
    </>
  );
}

function FileButton({ path, changes }: { path: string; changes: RunChanges }) {
  const direction = changes.takenBack.value.has(path) ? 'redo' : 'undo';
  const word = direction === 'undo' ? 'Take back' : 'Bring back';
  return (
    <button
      type="button"
      class="quiet"
      aria-label={`${word} ${showHidden(path)}`}
      onClick={() => void changes.changeFile(direction, path)}
    >
      {word}
    </button>
  );
}

const CHANGE_WORDS = { added: 'new', deleted: 'deleted' } as const;

const WITHOUT_WORDS = {
  binary: 'not text',
  large: 'too large to compare',
  secret: 'not shown, because it may hold secrets',
  left_out: 'not in the snapshot',
  budget: 'not shown, because the diffs before it are long',
} as const;

const STATE_WORDS = { open: ', in progress', done: '', undone: ', taken back' } as const;

const toOption = ({ beganMs, files, state, discard }: RunWithChanges, nowMs: number): string =>
  `${toMoment(beganMs, nowMs)}: ${files === 1 ? '1 file' : `${files} files`}${discard ? ', put back to the last commit' : ''}${STATE_WORDS[state]}`;
