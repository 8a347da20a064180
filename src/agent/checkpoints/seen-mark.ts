import type { Entry } from './entry.ts';
import { hashOf } from './object-store.ts';

/** The mark of a name under which there is nothing. */
export const NOTHING = '0';

/** What is under a name, in a word that changes with its content and permissions. Undefined if its content is not known. */
export function markOf(entry: Entry | undefined): string | undefined {
  if (entry === undefined) return NOTHING;
  if (entry.kind === 'file') return fileMark(entry);
  return entry.kind === 'link' ? linkMark(Buffer.from(entry.target, 'latin1')) : undefined;
}

export const fileMark = ({ mode, hash }: { mode: number; hash: string }): string => `f${mode.toString(8)}:${hash}`;

export const linkMark = (target: Buffer): string => `l${hashOf(target)}`;
