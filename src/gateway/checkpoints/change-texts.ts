import type { Message } from '../../agent/message.ts';

/** A change of files that is decided. */
export interface ToldChange {
  direction: 'undo' | 'redo';
  /** How many runs it takes back or brings back. */
  runs: number;
  /** It is about one file of one run. */
  isSingle: boolean;
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
export function noteOf({ direction, runs, isSingle, changed, kept, missing }: ToldChange): string {
  const what = isSingle ? 'a run' : runs === 1 ? 'the last run' : `the last ${runs} runs`;
  const done =
    direction === 'undo' ? `What ${what} changed on disk was taken back` : `What ${what} changed on disk is back`;
  return [
    changed.length === 0 ? `${done}; no file had to be changed.` : `${done}: ${count(changed)} (${named(changed)}).`,
    ...(kept.length > 0 ? [`Left as they are: ${named(kept)}.`] : []),
    ...(missing.length > 0 ? [`Not stored, so not restored: ${named(missing)}.`] : []),
  ].join(' ');
}

/** For the model, at its next run. */
export function messageOf({ direction, changed, kept, missing }: ToldChange): Message {
  const what =
    direction === 'undo'
      ? 'The person took back changes that you made to files. These files are again as they were before'
      : 'The person brought back changes to files that had been taken back. These files are again as you had left them';
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

const toMessage = (text: string): Message => ({
  role: 'user',
  content: `<environment>\n${text}\n</environment>`,
  trusted: true,
  environment: {},
});
