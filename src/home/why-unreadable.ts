import { wordsOf } from '../../protocol/words-of.ts';
import { hasCode } from './private-file.ts';

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'it does not exist',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EISDIR: 'it is a folder',
  ENOTDIR: 'a part of its path is not a folder',
  ELOOP: 'its symbolic links form a loop',
  ENAMETOOLONG: 'its name is too long',
  ENOSPC: 'the disk is full',
};

/** Why a file or folder could not be read, in plain words. */
export function whyUnreadable(error: unknown): string {
  const code = Object.keys(REASONS).find((each) => hasCode(error, each));
  return (code !== undefined && REASONS[code]) || wordsOf(error);
}
