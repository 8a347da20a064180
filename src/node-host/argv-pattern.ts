import { fitsStars } from '../lending/star-pattern.ts';

/**
 * A command that may run, with one word per argument. `git status` allows exactly that, `git log *` any further arguments,
 * and `systemctl restart web-*` any name that begins so. A star inside a word matches only text of the same kind.
 */
export interface ArgvPattern {
  /** The first word. */
  program: string;
  fits(argv: readonly string[]): boolean;
}

export function parseArgvPattern(text: string): ArgvPattern | undefined {
  const words = text.trim().split(/\s+/);
  const [program = ''] = words;
  if (program === '' || program.includes('*')) return undefined; // the pattern has to name the program
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

/** First characters that give an argument another meaning: an option, a response file, an absolute path, a hidden file. */
const KIND_PREFIX = /^[-+@/.~]/;
/** Paths, assignments, and `host:file`: a star never supplies these characters, the pattern has to contain them. */
const SEPARATORS = ['/', '=', ':'];

function isSameKind(word: string, argument: string): boolean {
  if (argument.split('/').includes('..')) return false;
  if (word.startsWith('*') && KIND_PREFIX.test(argument)) return false;
  if (word.startsWith('/')) return true; // an absolute path: the other separators have no meaning in it
  return SEPARATORS.every((separator) => word.includes(separator) || !argument.includes(separator));
}
