import { resolve, sep } from 'node:path';
import { findProgram, type Program, type ProgramSearch } from '../agent/process/programs.ts';
import type { ArgvPattern } from './argv-pattern.ts';

/** The programs of the patterns, by their names in the patterns. */
export type LentPrograms = ReadonlyMap<string, Program>;

interface LentSearch extends Omit<ProgramSearch, 'acceptOwn'> {
  startedIn: string;
}

/**
 * Looks up the programs once, at startup, so that a file the gateway writes later cannot replace them. Programs that the
 * user has installed are accepted too, because they run as that user anyway.
 */
export async function findLentPrograms(patterns: readonly ArgvPattern[], search: LentSearch): Promise<LentPrograms> {
  const names = [...new Set(patterns.map(({ program }) => program))];
  const programs = await Promise.all(names.map((name) => find(name, search)));
  return new Map(names.map((name, i) => [name, programs[i] ?? { kind: 'missing' }]));
}

/** A path names its file and is relative to the folder in which the node was started. */
const find = async (name: string, { startedIn, environment, avoid, uid, platform }: LentSearch): Promise<Program> =>
  name.includes(sep)
    ? { kind: 'found', path: resolve(startedIn, name) }
    : findProgram(name, { environment, avoid, uid, platform, acceptOwn: true });
