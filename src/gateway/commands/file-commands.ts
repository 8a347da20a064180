import type { CommandName } from '../../../protocol/commands.ts';
import { GatewayError } from '../../../protocol/errors.ts';
import {
  type ComparedCheckpoint,
  type ComparedFile,
  checkpointContracts,
} from '../../../protocol/methods/conversation/checkpoint.ts';
import type { Workstream } from '../workstreams/workstream.ts';
import type { Command, CommandCaller } from './command.ts';

type Say = (to: Workstream, text: string) => Promise<void>;

/** What runs changed on disk: showing it, taking it back, bringing it back. */
export const createFileCommands = (say: Say) =>
  ({
    undo: { when: 'idle', run: (word, workstream, by) => change('undo', word, { workstream, by }) },
    redo: { when: 'idle', run: (word, workstream, by) => change('redo', word, { workstream, by }) },
    diff: {
      when: 'always',
      async run(path, workstream, { call }) {
        const { wsId } = workstream.data;
        const compared = await call.perform('checkpoint.diff', { wsId, ...(path !== '' && { path: toPath(path) }) });
        await say(workstream, toText(checkpointContracts['checkpoint.diff'].result().parse(compared)));
      },
    },
  }) satisfies Partial<Record<CommandName, Command>>;

/** The change itself tells people what it did. */
async function change(
  direction: 'undo' | 'redo',
  word: string,
  { workstream, by }: { workstream: Workstream; by: CommandCaller },
): Promise<void> {
  const { wsId } = workstream.data;
  const onConflict = word === 'keep' || word === 'overwrite' ? word : undefined;
  const path = word === '' || onConflict ? undefined : toPath(word);
  try {
    await by.call.perform(`checkpoint.${direction}`, {
      wsId,
      ...(onConflict && { onConflict }),
      ...(path && { path }),
    });
  } catch (error) {
    if (!(error instanceof GatewayError) || !hasConflicts(error.details) || path !== undefined) throw error;
    const how = `/${direction} keep leaves these files alone, /${direction} overwrite replaces them.`;
    throw new GatewayError(error.code, `${error.message} ${how}`, { details: error.details });
  }
}

/** Quotes are for paths with blanks, and `./` is for files that are named like a choice. */
const toPath = (word: string): string => word.replace(/^(["'])(.*)\1$/s, '$2').replace(/^\.\//, '');

const hasConflicts = (details: unknown): boolean =>
  typeof details === 'object' && details !== null && 'conflicts' in details;

const MOST_CHARS = 16_000;
const MARKS = { added: 'A', modified: 'M', deleted: 'D' } as const;
const WITHOUT: Readonly<Record<NonNullable<ComparedFile['without']>, string>> = {
  binary: 'not text',
  large: 'too large to compare',
  secret: 'not shown, because it may hold secrets',
  left_out: 'not in the snapshot',
  budget: '/diff PATH shows it',
};

function toText({ files, leftOut, checkpoint: { state } }: ComparedCheckpoint): string {
  if (files.length === 0) return 'The last run that changed files did not change this one.';
  const title = `Changes of the last run${state === 'undone' ? ', which were taken back' : ''}:`;
  const lines = files.map(({ path, change: kind, additions, deletions, without }) =>
    [MARKS[kind], path, ...(without ? [`(${WITHOUT[without]})`] : [`+${additions} −${deletions}`])].join(' '),
  );
  const left = leftOut.length > 0 ? [`${leftOut.length} files are not in the snapshot and cannot be restored.`] : [];
  const whole = [title, ...lines, ...left, '', ...files.map(({ diff = '' }) => diff)].join('\n').trimEnd();
  return whole.length <= MOST_CHARS
    ? whole
    : `${whole.slice(0, MOST_CHARS)}\n[${whole.length - MOST_CHARS} more characters; /diff PATH shows one file]`;
}
