import { hash } from 'node:crypto';
import type { FolderIdentity } from './files/held-folder.ts';

/** The digest of what a person approves. A call is executed only if it has the same digest (decision 9). */
export function approvalDigest({ tool, canonicalArguments, workdir, bindTo }: ApprovedCall): string {
  // A JSON array, so that values cannot shift the boundary between two fields.
  const text = JSON.stringify([tool, canonicalArguments, workdir.path, workdir.ino, bindTo ?? null]);
  return hash('sha256', text, 'hex');
}

interface ApprovedCall {
  tool: string;
  canonicalArguments: string;
  workdir: FolderIdentity;
  /** See `Prepared.bindTo`. */
  bindTo?: string | undefined;
}
