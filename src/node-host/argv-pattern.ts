import { fitsStars } from '../star-pattern.ts';

/**
 * Programs that may run, with one word of the pattern for each argument: `git status` is exactly that, `git log *` allows any
 * further arguments, `systemctl restart web-*` any name with that beginning. A star inside a word matches text of the same kind only.
 */
export interface ArgvPattern {
  /** Its first word. */
  program: string;
  fits(argv: readonly string[]): boolean;
}

export function parseArgvPattern(text: string): ArgvPattern | undefined {
  const words = text.trim().split(/\s+/);
  const [program = ''] = words;
  if (program === '' || program.includes('*')) return undefined; // which program it is has to be said
  const isOpen = words.length > 1 && words.at(-1) === '*';
  const fixed = isOpen ? words.slice(0, -1) : words;
  return {
    program,
    fits: (argv) =>
      (isOpen ? argv.length >= fixed.length : argv.length === fixed.length) &&
      fixed.every((word, i) => fitsWord(word, argv[i] ?? '')),
  };
}

function fitsWord(word: string, argument: string): boolean {
  return word === argument || (word.includes('*') && isSameKind(word, argument) && fitsStars(word, argument));
}

/** First characters that turn a name into something else: an option, a response file, an absolute path, a hidden file. */
const KIND_PREFIX = /^[-+@/.~]/;
/** Paths, assignments, and `host:file`: a star never supplies these characters, the pattern has to contain them. */
const SEPARATORS = ['/', '=', ':'];

function isSameKind(word: string, argument: string): boolean {
  if (argument.split('/').includes('..')) return false;
  if (word.startsWith('*') && KIND_PREFIX.test(argument)) return false;
  if (word.startsWith('/')) return true; // an absolute path: the other separators have no meaning in it
  return SEPARATORS.every((separator) => word.includes(separator) || !argument.includes(separator));
}
