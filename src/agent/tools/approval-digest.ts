import { createHash } from 'node:crypto';

/** What a person agrees to, as one value: execution is allowed only for a call with the same digest (decision 9). */
export function approvalDigest({ tool, canonicalArguments, workdir, bindTo }: ApprovedCall): string {
  // As a JSON array, so that no choice of values can shift a boundary between two fields.
  const text = JSON.stringify([tool, canonicalArguments, workdir, bindTo ?? null]);
  return createHash('sha256').update(text).digest('hex');
}

interface ApprovedCall {
  tool: string;
  canonicalArguments: string;
  workdir: string;
  /** See `Prepared.bindTo`. */
  bindTo?: string | undefined;
}
