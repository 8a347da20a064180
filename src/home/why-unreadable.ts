import { wordsOf } from '../../protocol/words-of.ts';
import { hasCode } from './private-file.ts';

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EISDIR: 'it is a folder',
};

/** Why a file could not be read, in words that name no system call. */
export function whyUnreadable(error: unknown): string {
  const code = Object.keys(REASONS).find((each) => hasCode(error, each));
  return (code !== undefined && REASONS[code]) || wordsOf(error);
}
