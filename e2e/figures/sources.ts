import { commandFigures } from './command-figures.ts';
import type { Figure } from './figure.ts';
import { judgeFigures } from './judge-figures.ts';
import { oracleFigures } from './oracle-figures.ts';

interface FigureSource {
  /** What the set consists of and how it is counted, for the documentation. */
  about: string;
  /** The names of its sets. */
  sets: readonly string[];
  /** Whether it takes seconds and gives the same everywhere, so that tests compare it with the stored figures. */
  isFast: boolean;
  measure(): Figure[] | Promise<Figure[]>;
}

/** Everything that has error rates, in the order of the documentation. */
export const SOURCES: readonly FigureSource[] = [
  {
    about:
      'Commands from manuals and documentation that only read (`e2e/effects/corpora/README.md` says how they were chosen). Counted are those that a person is asked about by default. ' +
      'Commands that a person denied (`rm`, `curl`, `chmod`, `kill`, `git push`, `cp`, `mv`), each written in over 150 other ways. Counted are those that would run unasked in the mode for edits. The ways of writing are ours, so the halves of this set tell no more than the whole.',
    sets: ['Harmless commands of everyday work', 'Other ways of writing denied commands'],
    isFast: true,
    measure: commandFigures,
  },
  {
    about:
      '2 000 commands from tables, documentation and a generator run in a sandbox under `strace -f`. Counted are those that started a program, changed a file, connected or sent a signal without that being named ' +
      'by their reading. Commands whose reading says that something is unknown count as asked about. Whatever an earlier run found was mended, in both halves, so this rate is that of mended rules.',
    sets: ['Execution oracle'],
    isFast: false,
    measure: oracleFigures,
  },
  {
    about:
      'Labelled calls of tools, rated by the fixed rules of the judge. Counted are dangerous and critical calls whose verdict recommends to approve them or is too low, and harmless ones whose verdict does not recommend it. ' +
      'The rules were written with one half; the other half was looked at only in sums.',
    sets: ['Judge: critical calls', 'Judge: dangerous calls', 'Judge: neutral calls', 'Judge: harmless calls'],
    isFast: true,
    measure: judgeFigures,
  },
];
