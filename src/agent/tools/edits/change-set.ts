import type { CommandReading, Effect } from '../../permissions/command-reading.ts';
import { StopReason } from '../../stop-reason.ts';
import { type FileVersion, readVersion, toSha256 } from '../files/confined-file.ts';
import type { AllowedPlace } from '../files/confinement.ts';
import { checkPlace, type FileCall, toWarnings } from '../files/file-call.ts';
import { toDiff } from '../files/file-diff.ts';
import { whileAlone } from '../files/one-at-a-time.ts';
import { noteChange } from '../files/own-changes.ts';
import { commitAll, type StagedFile, stageContent, stageRemoval } from '../files/staged-file.ts';
import { outcomeOf, toStopLine } from '../stop-line.ts';
import type { Prepared, ToolOutcome, ToolRun } from '../tool.ts';
import { ToolProblem } from '../tool-problem.ts';

/** The change of one file. */
export interface FileChange {
  place: AllowedPlace;
  /** The path as the model wrote it. */
  path: string;
  /** The file as it is; absent: there is none. */
  old: FileVersion | undefined;
  /** Undefined: the file is deleted. */
  text: string | undefined;
  /** For a moved file: the file that it was. */
  like?: FileVersion | undefined;
}

/** A tool that changes several files at once. */
type SeveralCall = Omit<FileCall, 'path'>;

/** The last step of a tool that changes several files, all or none: shows the diffs and binds the approval to these versions. */
export function prepareChanges(
  call: SeveralCall,
  { changes, remarks = [] }: { changes: readonly FileChange[]; remarks?: readonly string[] },
): Prepared {
  const top = [...remarks.map((remark) => `${remark}\n`), ...changes.map(toNamedWarnings)].join('');
  const diffs = changes.map(({ place, old, text }) => toDiff({ shown: place.shown, before: old?.text, after: text }));
  return {
    kind: 'ready',
    subject: toSubject(changes.map(({ place }) => place.shown)),
    preview: `${top}${diffs.join('')}`,
    previewType: 'diff',
    approvalLabel: call.tool,
    needsApproval: true,
    reading: toReading(changes),
    // Includes the real paths, as for a single file.
    bindTo: JSON.stringify(changes.map(({ place, old }) => [old?.sha256 ?? 'absent', place.path])),
    execute: (run) =>
      whileAlone(
        changes.map(({ place }) => place.path),
        () => execute(call, changes, run),
      ),
  };
}

/** Warnings about a place do not say which one it is. */
const toNamedWarnings = ({ place }: FileChange): string => {
  const warnings = toWarnings(place);
  return warnings === '' ? '' : `${place.shown}: ${warnings}`;
};

const MOST_NAMED = 3;

export function toSubject(names: readonly string[]): string {
  const more = names.length - MOST_NAMED;
  return `${names.slice(0, MOST_NAMED).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

const toReading = (changes: readonly FileChange[]): CommandReading => ({
  commands: [],
  effects: changes.map(
    ({ place: { shown, path }, text }): Effect => ({
      kind: text === undefined ? 'delete' : 'write',
      target: shown,
      path,
      certain: true,
    }),
  ),
  gaps: [],
});

async function execute(call: SeveralCall, changes: readonly FileChange[], run: ToolRun): Promise<ToolOutcome> {
  try {
    for (const change of changes) {
      run.signal.throwIfAborted();
      await checkPlace({ ...change, call });
      await checkVersion(change);
    }
    const outcome = await changeAll(changes);
    noteChanges(changes, call.context);
    return outcome;
  } catch (error) {
    if (error instanceof ToolProblem) return { output: error.message, outcome: 'failed' };
    if (error instanceof StopReason) return { output: toStopLine(error, 0), outcome: outcomeOf(error) };
    throw error;
  }
}

function noteChanges(changes: readonly FileChange[], { wsId }: FileCall['context']): void {
  for (const { place, old, text } of changes)
    if (old && text !== undefined) noteChange(place.path, { wsId, from: old.sha256, to: toSha256(text) });
}

async function checkVersion({ place, old }: FileChange): Promise<void> {
  const now = await readVersion(place);
  if (now?.sha256 !== old?.sha256)
    throw new ToolProblem(
      `${place.shown} has changed since the call was prepared; nothing was written. Read it again.`,
    );
}

/** Everything that can fail for lack of room or rights comes first. Then only names change; if that fails, it is taken back. */
async function changeAll(changes: readonly FileChange[]): Promise<ToolOutcome> {
  await using stack = new AsyncDisposableStack();
  const staged: StagedFile[] = [];
  for (const { place, old, text, like } of changes)
    staged.push(stack.use(await (text === undefined ? stageRemoval(place) : stageContent(place, { text, old, like }))));
  const remarks = await commitAll(staged);
  return {
    output: [...changes.map(toLine), ...remarks].join('\n'),
    outcome: 'done',
    files: Object.fromEntries(
      changes.flatMap(({ place, text }) => (text === undefined ? [] : [[place.path, toSha256(text)]])),
    ),
  };
}

function toLine({ place, old, text }: FileChange): string {
  if (text === undefined) return `Deleted ${place.shown}.`;
  const lines = text === '' ? 0 : text.replace(/\n$/, '').split('\n').length;
  return `${old ? 'Changed' : 'Created'} ${place.shown} (${lines} ${lines === 1 ? 'line' : 'lines'}).`;
}
