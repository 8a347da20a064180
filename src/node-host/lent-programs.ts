import { resolve, sep } from 'node:path';
import { findProgram, type Program, type ProgramSearch } from '../agent/process/programs.ts';
import type { ArgvPattern } from './argv-pattern.ts';

/** The programs of the patterns, by the names that the patterns give them. */
export type LentPrograms = ReadonlyMap<string, Program>;

interface LentSearch extends Omit<ProgramSearch, 'acceptOwn'> {
  startedIn: string;
}

/**
 * Looks the programs up once, at startup: a file that the gateway writes later does not take their place. Programs that the
 * user has installed count too, because they run as that user anyway.
 */
export async function findLentPrograms(patterns: readonly ArgvPattern[], search: LentSearch): Promise<LentPrograms> {
  const names = [...new Set(patterns.map(({ program }) => program))];
  const programs = await Promise.all(names.map((name) => find(name, search)));
  return new Map(names.map((name, i) => [name, programs[i] ?? { kind: 'missing' }]));
}

/** A path says which file is meant, and is taken from where the person was who wrote it. */
const find = async (name: string, search: LentSearch): Promise<Program> =>
  name.includes(sep)
    ? { kind: 'found', path: resolve(search.startedIn, name) }
    : findProgram(name, { ...search, acceptOwn: true });
