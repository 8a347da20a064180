import type { Attachments } from '../attachments/attachments.ts';
import type { Checkpoints } from '../checkpoints/checkpoints.ts';
import type { Rules } from '../rules/rules.ts';

interface SweptParts {
  attachments: Pick<Attachments, 'sweep'>;
  checkpoints: Pick<Checkpoints, 'sweep'>;
  rules: Pick<Rules, 'sweep'>;
}

/** Removes the files and forgets the rules of workstreams that are gone. */
export async function sweepRemoved(
  { attachments, checkpoints, rules }: SweptParts,
  onSwept: () => void,
): Promise<void> {
  onSwept();
  await Promise.all([attachments.sweep(), checkpoints.sweep(), rules.sweep()]);
}
