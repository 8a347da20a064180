import { z } from 'zod';
import { contract } from '../../contract.ts';
import { NonEmpty, optionalKey, optionalText } from '../../frames.ts';
import { FilesDone } from './checkpoint.ts';

const Count = z.int().min(0);
const WsId = z.string();
const Path = NonEmpty.max(4_096);

const Entry = z
  .strictObject({
    name: z.string(),
    /** How other methods name it. Absent if its name is not UTF-8: then it can only be listed. */
    path: z.string().optional(),
    /** Links are not followed; `other` is a device, a socket or a pipe. */
    kind: z.enum(['folder', 'file', 'link', 'other']),
    sizeBytes: Count.optional(),
    modifiedMs: Count.optional(),
    /** A .gitignore file ignores it. */
    ignored: z.boolean(),
    /** Its name looks like that of a file with secrets: it can be listed, but not read. */
    secret: z.boolean(),
  })
  .meta({ id: 'FileEntry' });
/** A name in a folder of a workstream. */
export type FileEntry = z.infer<typeof Entry>;

const Listed = z
  .strictObject({
    path: z.string(),
    /** The folders of the workstream: the working directory, and those that an approver added. */
    folders: z.array(z.string()),
    entries: z.array(Entry),
    /** How many entries the folder has; of more than 20 000, only these are known. */
    total: Count,
  })
  .meta({ id: 'FileListResult' });
/** A part of a folder. */
export type ListedFolder = z.infer<typeof Listed>;

/** Files that match, as both wires answer. */
export const FileFound = z
  .strictObject({
    /** The best matches first. */
    paths: z.array(z.string()),
    /** False if there are more files than are searched. */
    complete: z.boolean(),
  })
  .meta({ id: 'FileFindResult' });
/** Files that match. */
export type FoundFiles = z.infer<typeof FileFound>;

const Part = z
  .strictObject({
    path: z.string(),
    sizeBytes: Count,
    modifiedMs: Count,
    /** The lines `first` to `last`. Absent with `without`. */
    text: z.string().optional(),
    /** From 1; 0 if there are no such lines. */
    first: Count,
    last: Count,
    /** How many lines the file has; 0 with `without`. */
    lines: Count,
    /** The last line is too long to be shown in full. */
    cut: z.boolean(),
    /** Why there is no text. */
    without: z.enum(['binary', 'large', 'secret']).optional(),
  })
  .meta({ id: 'FileReadResult' });
/** A part of a file. */
export type FilePart = z.infer<typeof Part>;

const GitChange = z.enum(['added', 'modified', 'deleted', 'conflict', 'untracked']);

const Repository = z
  .strictObject({
    /** The folder of the workstream that it is in. */
    path: z.string(),
    /** Absent without a branch. */
    branch: z.string().optional(),
    files: z.array(
      z.strictObject({
        path: z.string(),
        /** Between the last commit and the index. */
        staged: GitChange.optional(),
        /** Between the index and the disk. */
        unstaged: GitChange.optional(),
      }),
    ),
    /** False if there are more changes than are listed. */
    complete: z.boolean(),
    /**
     * Why its changes are not known. `elsewhere`: a part of the repository lies outside the folders of the workstream.
     * `no_git`: git is not installed. `failed`: git cannot read the repository, or takes too long.
     */
    without: z.enum(['elsewhere', 'no_git', 'failed']).optional(),
  })
  .meta({ id: 'FileRepository' });
/** What git reports about a folder. */
export type ChangedRepository = z.infer<typeof Repository>;

/** What git reports, as both wires answer. */
export const FileChanges = z.strictObject({ repositories: z.array(Repository) }).meta({ id: 'FileChangesResult' });

/** A diff, as both wires answer. */
export const FileDiff = z
  .strictObject({
    path: z.string(),
    additions: Count,
    deletions: Count,
    /** A unified diff; empty if the text is the same. */
    diff: z.string().optional(),
    /** Why there is no diff. */
    without: z.enum(['binary', 'large', 'secret']).optional(),
    /** What was compared, for `file.discard`. Absent with `part`, and if the file cannot be put back. */
    seen: z.string().optional(),
  })
  .meta({ id: 'FileDiffResult' });
/** How a file has changed since the last commit. */
export type GitDiff = z.infer<typeof FileDiff>;

/**
 * The files of a workstream: its working directory and the folders that an approver added. Only `file.discard` changes
 * something, and no link leads out. Paths are relative to the working directory; absolute in the other folders.
 */
export const fileContracts = {
  'file.list': contract({
    summary: 'The entries of a folder of a workstream, folders first.',
    scope: 'write',
    params: () =>
      z
        .strictObject({
          wsId: WsId,
          /** Default: the working directory. */
          path: optionalText(4_096),
          /** How many entries are left out before the first. Default: 0. */
          offset: Count.optional(),
          /** Default: 500. */
          limit: z.int().min(1).max(1_000).optional(),
        })
        .meta({ id: 'FileListParams' }),
    result: () => Listed,
  }),
  'file.find': contract({
    summary: 'Files of a workstream whose paths resemble a text. Files that .gitignore ignores are left out.',
    scope: 'write',
    params: () =>
      z
        .strictObject({
          wsId: WsId,
          /** Letters of the path in their order. Without it, the files near the top come first. */
          query: optionalText(200),
          /** Default: 20. */
          limit: z.int().min(1).max(100).optional(),
        })
        .meta({ id: 'FileFindParams' }),
    result: () => FileFound,
  }),
  'file.read': contract({
    summary: 'Lines of a text file of a workstream.',
    scope: 'write',
    weight: 2,
    params: () =>
      z
        .strictObject({
          wsId: WsId,
          path: Path,
          /** The first line, from 1. Default: 1. */
          offset: z.int().min(1).optional(),
          /** Default: 1000. At most 256 KiB are sent. */
          limit: z.int().min(1).max(5_000).optional(),
        })
        .meta({ id: 'FileReadParams' }),
    result: () => Part,
  }),
  'file.changes': contract({
    summary: 'What git reports as changed in the folders of a workstream.',
    scope: 'write',
    weight: 3,
    params: () => z.strictObject({ wsId: WsId }).meta({ id: 'FileChangesParams' }),
    result: () => FileChanges,
  }),
  'file.diff': contract({
    summary: 'How one file has changed since the last commit.',
    scope: 'write',
    weight: 10,
    params: () =>
      z
        .strictObject({
          wsId: WsId,
          path: Path,
          /** Only up to the index, or only since then. */
          part: z.enum(['staged', 'unstaged']).optional(),
        })
        .meta({ id: 'FileDiffParams' }),
    result: () => FileDiff,
  }),
  'file.discard': contract({
    summary: 'Put one file back to what the last commit has. What it was is kept; checkpoint.undo brings it back.',
    scope: 'write',
    weight: 10,
    audit: { action: 'file.discard', id: 'wsId', of: 'workstream' },
    params: () =>
      z
        .strictObject({
          wsId: WsId,
          path: Path,
          /** From `file.diff`. Refused if the file or the last commit is another one by now. */
          seen: NonEmpty.max(300),
          idempotencyKey: optionalKey(),
        })
        .meta({ id: 'FileDiscardParams' }),
    result: () => FilesDone,
    idempotency: 'optional',
  }),
};
