import type { Message } from '../../agent/message.ts';

/** A change of files that is decided. */
export interface ToldChange {
  direction: 'undo' | 'redo';
  /** How many runs it takes back or brings back. */
  runs: number;
  /** Whole runs, one file of a run, or files that people put back to the last commit (`redo`: from then on). */
  of: 'runs' | 'file' | 'discard';
  /** The paths that change, as people see them. */
  changed: readonly string[];
  kept: readonly string[];
  missing: readonly string[];
}

const MOST_NAMED = 20;

const named = (paths: readonly string[]): string =>
  paths.length <= MOST_NAMED
    ? paths.join(', ')
    : `${paths.slice(0, MOST_NAMED).join(', ')} and ${paths.length - MOST_NAMED} more`;

const count = (paths: readonly string[]): string => (paths.length === 1 ? '1 file' : `${paths.length} files`);

/** For people. */
export function noteOf({ direction, runs, of, changed, kept, missing }: ToldChange): string {
  const done = doneOf({ direction, runs, of });
  return [
    changed.length === 0 ? `${done}; no file had to be changed.` : `${done}: ${count(changed)} (${named(changed)}).`,
    ...(kept.length > 0 ? [`Left as they are: ${named(kept)}.`] : []),
    ...(missing.length > 0 ? [`Not stored, so not restored: ${named(missing)}.`] : []),
  ].join(' ');
}

function doneOf({ direction, runs, of }: Pick<ToldChange, 'direction' | 'runs' | 'of'>): string {
  if (of === 'discard')
    return direction === 'undo'
      ? 'Changes that had been discarded are back'
      : 'Changes since the last commit were discarded';
  const what = of === 'file' ? 'a run' : runs === 1 ? 'the last run' : `the last ${runs} runs`;
  return direction === 'undo' ? `What ${what} changed on disk was taken back` : `What ${what} changed on disk is back`;
}

const MODEL_WORDS = {
  run: {
    undo: 'The person took back changes that you made to files. These files are again as they were before',
    redo: 'The person brought back changes to files that had been taken back. These files are again as you had left them',
  },
  discard: {
    undo: 'The person brought back changes that had been discarded. These files are again as they were before that',
    redo: 'The person discarded changes of files. These files are again as in the last commit of git',
  },
} as const;

/** For the model, at its next run. */
export function messageOf({ direction, of, changed, kept, missing }: ToldChange): Message {
  const what = MODEL_WORDS[of === 'discard' ? 'discard' : 'run'][direction];
  const lines = [
    `${what}: ${named(changed)}. Read them again before you rely on what you know of them.`,
    ...(kept.length > 0 ? [`These were left as they are, because somebody changed them since: ${named(kept)}.`] : []),
    ...(missing.length > 0 ? [`These could not be restored: ${named(missing)}.`] : []),
  ];
  return toMessage(lines.join('\n'));
}

/** When some of the changes were not possible after all. */
export function failureOf(failed: readonly { shown: string; why: string }[]): { note: string; message: Message } {
  const note = `Not changed: ${named(failed.map(({ shown, why }) => `${shown} (${why})`))}.`;
  return { note, message: toMessage(`Of the files that were announced, some could not be changed. ${note}`) };
}

/** When the folders of a change that a crash interrupted are others by now. */
export function givenUp(folders: readonly string[]): { note: string; message: Message } {
  const note = `A change of files was interrupted and cannot be completed, because a folder is not the same any more, or no longer belongs to the workstream: ${named(folders)}.`;
  return { note, message: toMessage(`Not all files that were announced may be as you were told. ${note}`) };
}

const toMessage = (text: string): Message => ({
  role: 'user',
  content: `<environment>\n${text}\n</environment>`,
  trusted: true,
  environment: {},
});
