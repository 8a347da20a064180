import { z } from 'zod';
import { contract } from '../../contract.ts';
import { NonEmpty, optionalKey, optionalText } from '../../frames.ts';

const Count = z.int().min(0);
const WsId = z.string();
const Path = NonEmpty.max(8_192);

/** What one run changed on disk. */
const Checkpoint = z
  .strictObject({
    runId: z.string(),
    /** How many messages the conversation had when the run was about to change files. */
    afterSeq: Count,
    /** `open`: the run is in progress; `done`: it can be taken back; `undone`: it can be brought back. */
    state: z.enum(['open', 'done', 'undone']),
    beganMs: Count,
    /** How many files it changed; 0 while it is open. */
    files: Count,
    /** How many files the snapshot does not hold: too large, unreadable, or beyond the space for snapshots. */
    leftOut: Count,
    /** The folders of the snapshot, the working directory first. */
    folders: z.array(z.string()),
    /** Folders without a snapshot. `files`: they have too many; `time`: reading them takes too long. */
    unavailable: z.array(z.strictObject({ path: z.string(), reason: z.enum(['files', 'time']) })),
    /** It is no run: a person put one file back to the last commit of git (`file.discard`). */
    discard: z.literal(true).optional(),
  })
  .meta({ id: 'Checkpoint' });
/** A checkpoint on the wire. */
export type ShownCheckpoint = z.infer<typeof Checkpoint>;

const Change = z.enum(['added', 'modified', 'deleted']);

const ComparedFile = z
  .strictObject({
    /** Relative to the working directory; absolute in other folders. Bytes that are no UTF-8 are written `\xff`. */
    path: z.string(),
    change: Change,
    /** The permission bits, if they have changed. */
    modes: z.strictObject({ before: Count, after: Count }).optional(),
    additions: Count,
    deletions: Count,
    /** A unified diff; empty if only the permissions have changed. */
    diff: z.string().optional(),
    /** Why there is no diff. `budget`: the diffs before it are long; ask for this file alone. */
    without: z.enum(['binary', 'large', 'secret', 'left_out', 'budget']).optional(),
  })
  .meta({ id: 'ComparedFile' });
/** A file that a run changed. */
export type ComparedFile = z.infer<typeof ComparedFile>;

const Compared = z
  .strictObject({
    checkpoint: Checkpoint,
    files: z.array(ComparedFile),
    /** The first hundred files that the snapshot does not hold. */
    leftOut: z.array(z.strictObject({ path: z.string(), reason: z.enum(['size', 'total', 'unreadable']) })),
  })
  .meta({ id: 'CheckpointDiffResult' });
/** The changes of a run. */
export type ComparedCheckpoint = z.infer<typeof Compared>;

const Conflict = z
  .strictObject({
    path: z.string(),
    /** `unknown`: no snapshot shows how the run left the file, so nobody can tell. */
    reason: z.enum(['changed', 'removed', 'created', 'unknown']),
  })
  .meta({ id: 'FileConflict' });

const Preview = z
  .strictObject({
    /** The runs, in the order in which they are taken back or brought back. */
    runIds: z.array(z.string()),
    /** What happens to files without a conflict. */
    changes: z.array(z.strictObject({ path: z.string(), change: Change })),
    /** Files that are not as the runs left them. */
    conflicts: z.array(Conflict),
    /** Files whose earlier content is not stored. */
    missing: z.array(z.string()),
  })
  .meta({ id: 'CheckpointPreviewResult' });
/** What an undo or redo would do. */
export type PreviewedChange = z.infer<typeof Preview>;

const Choice = z.enum(['keep', 'overwrite']);
/** What to do with files that are not as the run left them; `refuse`: change nothing at all. */
export const OnConflictParam = z.enum(['refuse', 'keep', 'overwrite']);

const changeParams = {
  wsId: WsId,
  /** Up to and including this run; default: one run. */
  runId: optionalText(128),
  /** Only this file of the run `runId`, by default of the last one that changed it. The state of the run stays. Refused if the file is not as the run left it. */
  path: optionalText(8_192),
  /** Default: `refuse`. */
  onConflict: OnConflictParam.optional(),
  /** For single files. */
  choices: z
    .array(z.strictObject({ path: Path, choice: Choice }))
    .max(10_000)
    .optional(),
  idempotencyKey: optionalKey(),
};

const changed = {
  runIds: z.array(z.string()),
  changed: z.array(z.string()),
  /** Conflicts that were left as they are. */
  kept: z.array(z.string()),
  /** Files whose earlier content is not stored. */
  missing: z.array(z.string()),
  /** Files that could not be changed after all. */
  failed: z.array(z.strictObject({ path: z.string(), why: z.string() })),
};
/** What became of files that a rewind took back. */
export const FilesChanged = z.strictObject(changed).meta({ id: 'FilesChanged' });

/** The answer of everything that changes files on disk. */
export const FilesDone = z.strictObject({ status: z.literal('ok'), ...changed }).meta({ id: 'CheckpointChangeResult' });

/** What runs changed on disk, and taking it back. `preview`, `undo` and `redo` are BUSY while a run is in progress. */
export const checkpointContracts = {
  'checkpoint.list': contract({
    summary: 'The runs of a workstream that changed files, newest first.',
    scope: 'read',
    params: () => z.strictObject({ wsId: WsId }).meta({ id: 'CheckpointListParams' }),
    result: () =>
      z
        .strictObject({
          /** Whether runs get snapshots now. */
          enabled: z.boolean(),
          checkpoints: z.array(Checkpoint),
        })
        .meta({ id: 'CheckpointListResult' }),
  }),
  'checkpoint.diff': contract({
    summary: 'What a run changed on disk, file by file.',
    scope: 'read',
    weight: 3,
    params: () =>
      z
        .strictObject({
          wsId: WsId,
          /** Default: the last run that changed files. */
          runId: optionalText(128),
          /** Only this file. */
          path: optionalText(8_192),
        })
        .meta({ id: 'CheckpointDiffParams' }),
    result: () => Compared,
  }),
  'checkpoint.preview': contract({
    summary: 'What an undo or a redo would change now, and its conflicts. Changes nothing.',
    scope: 'write',
    weight: 3,
    params: () =>
      z
        .strictObject({ wsId: WsId, direction: z.enum(['undo', 'redo']).optional(), runId: optionalText(128) })
        .meta({ id: 'CheckpointPreviewParams' }),
    result: () => Preview,
  }),
  'checkpoint.undo': contract({
    summary: 'Take back what the last run changed on disk, or all runs since a certain one. The conversation stays.',
    scope: 'write',
    weight: 3,
    audit: { action: 'checkpoint.undo', id: 'wsId', of: 'workstream' },
    params: () => z.strictObject(changeParams).meta({ id: 'CheckpointUndoParams' }),
    result: () => FilesDone,
    idempotency: 'optional',
  }),
  'checkpoint.redo': contract({
    summary: 'Bring back what an undo took back.',
    scope: 'write',
    weight: 3,
    audit: { action: 'checkpoint.redo', id: 'wsId', of: 'workstream' },
    params: () => z.strictObject(changeParams).meta({ id: 'CheckpointRedoParams' }),
    result: () => FilesDone,
    idempotency: 'optional',
  }),
};
