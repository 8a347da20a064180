import { createHash } from 'node:crypto';
import type { FolderIdentity } from './files/held-folder.ts';

/** What a person agrees to, as one value: execution is allowed only for a call with the same digest (decision 9). */
export function approvalDigest({ tool, canonicalArguments, workdir, bindTo }: ApprovedCall): string {
  // As a JSON array, so that no choice of values can shift a boundary between two fields.
  const text = JSON.stringify([tool, canonicalArguments, workdir.path, workdir.ino, bindTo ?? null]);
  return createHash('sha256').update(text).digest('hex');
}

interface ApprovedCall {
  tool: string;
  canonicalArguments: string;
  workdir: FolderIdentity;
  /** See `Prepared.bindTo`. */
  bindTo?: string | undefined;
}
