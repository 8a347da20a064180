import { fitsStars } from '../../src/star-pattern.ts';

/**
 * Which programs may run, one word of a pattern for each argument: `git status` is exactly that, `git log *` any further
 * arguments, `systemctl restart web-*` any name that begins so. A star within a word never stands for a way upwards.
 */
export interface ArgvPattern {
  fits(argv: readonly string[]): boolean;
}

export function parseArgvPattern(text: string): ArgvPattern | undefined {
  const words = text.trim().split(/\s+/);
  const [program = ''] = words;
  if (program === '' || program.includes('*')) return undefined; // which program it is has to be said
  const isOpen = words.length > 1 && words.at(-1) === '*';
  const fixed = isOpen ? words.slice(0, -1) : words;
  return {
    fits: (argv) =>
      (isOpen ? argv.length >= fixed.length : argv.length === fixed.length) &&
      fixed.every((word, i) => fitsWord(word, argv[i] ?? '')),
  };
}

function fitsWord(word: string, argument: string): boolean {
  if (word.includes('*') && argument.split('/').includes('..')) return false;
  return fitsStars(word, argument);
}
