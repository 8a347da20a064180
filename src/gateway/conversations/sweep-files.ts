import type { Attachments } from '../attachments/attachments.ts';
import type { Checkpoints } from '../checkpoints/checkpoints.ts';

interface SweptParts {
  attachments: Pick<Attachments, 'sweep'>;
  checkpoints: Pick<Checkpoints, 'sweep'>;
}

/** Removes the files of workstreams that are gone. */
export async function sweepFiles({ attachments, checkpoints }: SweptParts, onSwept: () => void): Promise<void> {
  onSwept();
  await Promise.all([attachments.sweep(), checkpoints.sweep()]);
}
