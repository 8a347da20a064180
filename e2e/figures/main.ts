import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { toDocument } from './document.ts';
import { type Figure, isMet } from './figure.ts';
import { SOURCES } from './sources.ts';

/** Measures everything, or with --fast only what takes seconds, and writes the page and the stored figures. */
const { values } = parseArgs({ options: { fast: { type: 'boolean', default: false } } });
const stored = path.join(import.meta.dirname, 'stored-figures.json');
const before = JSON.parse(readFileSync(stored, 'utf8')) as Figure[];
const figures: Figure[] = [];
for (const { isFast, sets, measure } of SOURCES)
  figures.push(...(isFast || !values.fast ? await measure() : before.filter(({ set }) => sets.includes(set))));
writeFileSync(stored, `${JSON.stringify(figures, undefined, 2)}\n`);
writeFileSync(path.join(import.meta.dirname, '../../docs/security-figures.md'), toDocument(figures));
const failed = figures.filter((figure) => !isMet(figure));
for (const { set, what, half, hits, n } of failed) process.stdout.write(`${set}: ${hits} of ${n} ${what} (${half})\n`);
process.stdout.write(`${figures.length} figures, ${failed.length} beyond their aims\n`);
process.exitCode = failed.length === 0 ? 0 : 1;
