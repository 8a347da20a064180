import { z } from 'zod';

/** Snapshots of the folders of workstreams, from which `/undo` takes back what runs changed. */
export const CheckpointsConfig = z.object({
  enabled: z.boolean().default(true).describe('Whether a snapshot is taken before a run changes files.'),
  maxFileMb: z
    .int()
    .min(1)
    .max(1_024)
    .default(10)
    .describe('The largest file that a snapshot holds, in MiB. Larger ones cannot be restored.'),
  maxTotalMb: z
    .int()
    .min(1)
    .max(1_048_576)
    .default(512)
    .describe('How much the snapshots of one workstream may take on disk, in MiB.'),
  keep: z.int().min(1).max(1_000).default(50).describe('How many runs of a workstream can be taken back.'),
  keepDays: z.int().min(1).max(3_650).default(14).describe('Days after which a run can no longer be taken back.'),
});
