import { commandFigures } from './command-figures.ts';
import { escapeFigures } from './escape-figures.ts';
import type { Figure } from './figure.ts';
import { GUARD_SETS, guardFigures } from './guard-figures.ts';
import { judgeFigures } from './judge-figures.ts';
import { oracleFigures } from './oracle-figures.ts';

/** A group of sets that are measured together. */
export interface FigureSource {
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
      'Commands that a person denied (`rm`, `curl`, `chmod`, `kill`, `git push`, `cp`, `mv`), each written in over 150 other ways. Deny rules name the program, and the path or the host where there is one. Counted are those that run all the same in the mode for edits, or in the mode full, where nothing but deny rules stops a call. Both sets go through the decision that runs make (`rulingOf`). The ways of writing are ours, so the halves of this set tell no more than the whole.',
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
  {
    about:
      'Labelled outputs of tools (`e2e/outputs/corpora/README.md` says where they come from). A secret counts as readable if eight characters of it in a row are left, also when the output arrives in pieces. ' +
      'The labels were given before the guard saw the outputs. It then missed 25 % of all secrets. Rules were written with the half in view, until 4.9 % of all and 7.7 % of those held out were missed, ' +
      '1 of 38 keys, tokens and addresses among them. Then the other half was opened once and mended, too, so these rates are those of mended rules. ' +
      'What is still missed: values without a name (a column of a table, a file that holds a key alone), in encodings (hexadecimal dumps, a whole file in base64), or joined in code.',
    sets: GUARD_SETS,
    isFast: true,
    measure: guardFigures,
  },
  {
    about:
      'Ways out of the sandbox, each tried in a start of its own (`npm run escapes`). Counted are those by which a secret outside was read, or something outside was changed or reached. All ways were known while the sandbox was built.',
    sets: ['Ways out of the sandbox'],
    isFast: false,
    measure: escapeFigures,
  },
];
