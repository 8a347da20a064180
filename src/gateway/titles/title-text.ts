import { toPlainName } from '../../../protocol/text/plain-text.ts';
import { withoutSecrets } from '../../secret-text.ts';

const MOST_CHARS = 80;
/** Characters of a line that are looked at for its title. A message may be one line of a megabyte. */
export const MOST_READ = 10_000;

/** One line of readable characters, short enough for a tab. */
export function toTitle(text: string): string {
  const line = toPlainName(text).replaceAll(/\s+/g, ' ');
  const characters = [...line];
  return characters.length <= MOST_CHARS ? line : `${characters.slice(0, MOST_CHARS - 1).join('')}…`;
}

/** The title in a model's answer, without what models like to put around it; empty if there is none. */
export function readTitle(answer: string): string {
  const line = answer.split(/[\r\n]/).find((one) => /[\p{L}\p{N}]/u.test(one)) ?? '';
  const bare = line
    .slice(0, MOST_READ)
    .replace(/^[\s#>*_-]*(?:title\s*:)?[\s*_]*/i, '')
    .replace(/^["'`“”„«»‘’]+|["'`“”„«»‘’*_.\s]+$/gu, '');
  return toTitle(withoutSecrets(bare));
}
