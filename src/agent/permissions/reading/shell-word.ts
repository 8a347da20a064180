import type { DoubleQuotedChild, Word, WordPart } from 'unbash';
import { isCertainValue } from './ansi-c-quotes.ts';
import { toGlobs } from './globs.ts';

/** A word of a command, as far as it is known before the command runs. */
export interface ShellWord {
  /** As in the source. */
  written: string;
  /** What the program receives; undefined if that depends on variables, outputs or file names. */
  value: string | undefined;
  /** The known beginning; all of it if the value is known. */
  start: string;
  /** Whether it may become several words, or none. */
  splits: boolean;
  /** Whether a word that begins with anything may come from it, such as an option. */
  isFree: boolean;
  /** Its patterns, if only file names and braces make it uncertain. See toGlobs. */
  globs?: readonly string[] | undefined;
  /** Folders of which one has the file that it names, at any depth. */
  within?: readonly string[] | undefined;
  /** Whether that file may be a link, which leads anywhere. */
  mayBeLink?: boolean;
}

/** Reads a word of the parser. `home` replaces a tilde; undefined if it is unknown. */
export function toShellWord(word: Pick<Word, 'text' | 'value' | 'parts'>, home: string | undefined): ShellWord {
  const { text, parts } = word;
  // The program gets the path of a pipe.
  if (parts?.length === 1 && parts[0]?.type === 'ProcessSubstitution')
    return { ...toKnownWord('/dev/fd/63'), written: text };
  const known = parts === undefined ? { ...NOTHING, start: word.value } : joinParts(parts);
  const read: ShellWord = {
    written: text,
    value: known.isWhole ? known.start : undefined,
    start: known.start,
    splits: known.splits,
    isFree: !known.isWhole && (known.isFree || known.start === ''),
    globs: toGlobs(parts),
  };
  return expandTilde(read, home);
}

/** A word that is known completely. */
export const toKnownWord = (value: string): ShellWord => ({
  written: value,
  value,
  start: value,
  splits: false,
  isFree: false,
});

/** Any number of unknown words, such as those that xargs reads. */
export const UNKNOWN_WORDS: ShellWord = {
  written: '…',
  value: undefined,
  start: '',
  splits: true,
  isFree: true,
};

/** The word without its first characters, which are known: the value in `--output=value`. */
export const dropStart = ({ written, value, start, splits, isFree }: ShellWord, length: number): ShellWord => ({
  written: value === undefined ? dropWritten(written, start.slice(0, length)) : value.slice(length),
  value: value?.slice(length),
  start: start.slice(length),
  splits,
  isFree,
});

const dropWritten = (written: string, start: string): string =>
  written.startsWith(start) ? written.slice(start.length) : written;

interface Joined {
  start: string;
  isWhole: boolean;
  splits: boolean;
  isFree: boolean;
}

const NOTHING: Joined = { start: '', isWhole: true, splits: false, isFree: false };

function joinParts(parts: readonly WordPart[]): Joined {
  const joined = { ...NOTHING };
  for (const part of parts) addPart(joined, part);
  return joined;
}

/** Digits, whatever happens. */
const NUMBER = /^\$([#?$!]|\{#[^}]*\})$/;

function addPart(joined: Joined, part: WordPart): void {
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
      if (joined.isWhole) joined.start += part.value;
      return;
    case 'AnsiCQuoted':
      if (!isCertainValue(part)) joined.isWhole = false;
      if (joined.isWhole) joined.start += part.value;
      return;
    case 'DoubleQuoted':
    case 'LocaleString':
      for (const child of part.parts) addQuoted(joined, child);
      return;
    default:
      joined.isWhole = false;
      if (NUMBER.test(part.text)) return;
      joined.splits = true;
      // File names and braces keep the beginning; the values of variables are split into any words.
      joined.isFree ||= !/^(Glob|ExtendedGlob|BraceExpansion)$/.test(part.type) || /[$`]/.test(part.text);
  }
}

function addQuoted(joined: Joined, part: DoubleQuotedChild): void {
  if (part.type === 'Literal') {
    if (joined.isWhole) joined.start += part.value;
    return;
  }
  joined.isWhole = false;
  if (!part.text.includes('@')) return;
  joined.splits = true; // "$@" and "${a[@]}" become several words
  joined.isFree = true;
}

const UNQUOTED_TILDE = /^(~|[A-Za-z_]\w*\+?=(.*:)?~)/;

function expandTilde(word: ShellWord, home: string | undefined): ShellWord {
  if (!UNQUOTED_TILDE.test(word.written)) return word;
  if (!word.written.startsWith('~')) return { ...word, value: undefined, start: word.start.split('~', 1)[0] ?? '' };
  const other = { ...word, globs: undefined };
  if (home === undefined || !/^~(\/|$)/.test(word.written)) return { ...other, value: undefined, start: '~' };
  const start = `${home}${word.start.slice(1)}`;
  return { ...other, start, value: word.value === undefined ? undefined : start };
}
