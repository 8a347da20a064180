import { readFileSync } from 'node:fs';
import path from 'node:path';

/** A command with the place that it was taken from. */
interface CollectedCommand {
  source: string;
  command: string;
}

/** The commands of a file in this folder. */
export const readCorpus = (name: 'harmless' | 'documentation'): CollectedCommand[] =>
  readFileSync(path.join(import.meta.dirname, `${name}.tsv`), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => ({ source: line.split('\t', 1)[0] ?? '', command: line.slice(line.indexOf('\t') + 1) }));
