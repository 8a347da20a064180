import { RequestError } from '../../../../protocol/client/request-error.ts';
import type { Result } from '../../../../protocol/index.ts';
import { LIMITS } from '../../../../protocol/limits.ts';
import { findMentions, type Mention, mentionBefore, toMentioned } from '../../../../protocol/mentions/mentions.ts';
import type { Suggestion } from '../commands.ts';
import type { Reader } from '../reading/reading.ts';

/** The drafts that each of the files makes of what was typed. */
export function completeMention(draft: string, cursor: number, paths: readonly string[]): Suggestion[] {
  const query = mentionBefore(draft, cursor);
  if (query === undefined) return [];
  const before = draft.slice(0, cursor - query.length);
  return paths
    .filter((path) => path !== query)
    .map((path) => ({
      draft: `${before}${toMentioned(path)}${draft.slice(cursor)}`,
      label: path,
      hint: '',
      cursor: before.length + toMentioned(path).length,
    }));
}

/** Whether a message may mention files. */
export const mayMention = (text: string): boolean => findMentions(text).length > 0;

const MOST_LINES = 5_000;
/** So many names are looked up: each is a request. */
const MOST_NAMES = 50;
const MOST_FILES = LIMITS.attachmentsPerMessage;

/**
 * Reads the files, or the lines of them, that a message mentions. A mention of something else, such as a folder or a person,
 * stays plain text. Throws if a message mentions lines that do not exist, or a file that has no text to show.
 */
export async function readMentioned(text: string, wsId: string, client: Pick<Reader, 'call'>): Promise<File[]> {
  const files: File[] = [];
  // One after the other: a text with many names that are no files must not use up the requests of the page.
  for (const mention of findMentions(text).slice(0, MOST_NAMES)) {
    const file = await readOne(mention, wsId, client);
    if (file) files.push(file);
    if (files.length > MOST_FILES) throw new Error(`A message may name at most ${MOST_FILES} files with @.`);
  }
  return files;
}

async function readOne(mention: Mention, wsId: string, client: Pick<Reader, 'call'>): Promise<File | undefined> {
  const { path, lines } = mention;
  const { first, last } = lines ?? { first: 1, last: MOST_LINES };
  const isRange = first >= 1 && last >= first && last - first < MOST_LINES;
  const asked = isRange ? { offset: first, limit: last - first + 1 } : { offset: 1, limit: 1 };
  const part = await client.call('file.read', { wsId, path, ...asked }).catch(unlessRefused);
  if (part === undefined) return undefined; // what is no file has no lines either, such as @user/repo#9-1
  if (!isRange)
    throw new Error(`@${path}: name at most ${MOST_LINES.toLocaleString()} lines, the first of which is 1.`);
  const problem = findProblem(mention, part);
  if (problem !== undefined) throw new Error(`@${path} ${problem}.`);
  const name = lines === undefined ? part.path : `${part.path} (${toRange(lines)})`;
  return new File([part.text ?? ''], name, { type: 'text/plain' });
}

/** Why a part is not what the message mentions. */
function findProblem({ path, lines }: Mention, part: Result<'file.read'>): string | undefined {
  if (part.without !== undefined) return WITHOUT_WORDS[part.without];
  if (part.cut || part.last < (lines?.last ?? part.lines)) {
    const size = `${part.lines.toLocaleString()} ${part.lines === 1 ? 'line' : 'lines'}`;
    if (lines && lines.last > part.lines) return `has ${size}, but the message names ${lines.first} to ${lines.last}`;
    return `is too long to be attached (${size}); name some of its lines, such as @${path}#1-200`;
  }
  return undefined;
}

/** There is no such file. */
function unlessRefused(error: unknown): undefined {
  if (error instanceof RequestError && ['NOT_FOUND', 'INVALID_REQUEST'].includes(error.code)) return undefined;
  throw error;
}

const toRange = ({ first, last }: { first: number; last: number }): string =>
  first === last ? `line ${first}` : `lines ${first}-${last}`;

const WITHOUT_WORDS = {
  binary: 'is not a text file',
  large: 'is too large to be attached',
  secret: 'is not attached, because it may hold secrets',
};
