import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { toDocument } from './document.ts';
import { type Figure, isMet } from './figure.ts';
import { type FigureSource, SOURCES } from './sources.ts';

/**
 * Measures everything, with --fast only what takes seconds, or with --only the sets whose name has a text, and writes the page
 * and the stored figures.
 */
const { values } = parseArgs({ options: { fast: { type: 'boolean', default: false }, only: { type: 'string' } } });
const stored = path.join(import.meta.dirname, 'stored-figures.json');
const before = JSON.parse(readFileSync(stored, 'utf8')) as Figure[];
const figures: Figure[] = [];
const isMeasured = ({ isFast, sets }: Pick<FigureSource, 'isFast' | 'sets'>): boolean => {
  const { only } = values;
  return only === undefined ? isFast || !values.fast : sets.some((set) => set.includes(only));
};
for (const source of SOURCES) {
  const stored = before.filter(({ set }) => source.sets.includes(set));
  figures.push(...(isMeasured(source) ? await source.measure() : stored));
}
writeFileSync(stored, `${JSON.stringify(figures, undefined, 2)}\n`);
writeFileSync(path.join(import.meta.dirname, '../../docs/security-figures.md'), toDocument(figures));
const failed = figures.filter((figure) => !isMet(figure));
for (const { set, what, half, hits, n } of failed) process.stdout.write(`${set}: ${hits} of ${n} ${what} (${half})\n`);
process.stdout.write(`${figures.length} figures, ${failed.length} beyond their aims\n`);
process.exitCode = failed.length === 0 ? 0 : 1;
