import path from 'node:path';
import { UsageError } from '../start-error.ts';

/** The environment and folders of the process. */
export interface Surroundings {
  environment: Readonly<Record<string, string | undefined>>;
  /** The user's home directory. */
  userHome: string;
  /** The base of relative folders in flags and environment. */
  cwd: string;
}

/** Headgate's home. Not a setting of config.json, because that file is in it. */
export function resolveHome(flags: { home?: string | undefined }, around: Surroundings): string {
  return resolveFolder(flags.home ?? present(around.environment).HEADGATE_HOME ?? '~/.headgate', around);
}

/** Makes a path absolute; `~` is the user's home directory. */
export function resolveFolder(text: string, { userHome, cwd }: Pick<Surroundings, 'userHome' | 'cwd'>): string {
  if (text.trim() === '') throw new UsageError('The name of a folder is empty.');
  if (text === '~' || text.startsWith('~/')) return path.join(userHome, text.slice(1));
  return path.resolve(cwd, text);
}

/** Drops empty variables. */
export function present(environment: Surroundings['environment']): Partial<Record<string, string>> {
  const entries = Object.entries(environment).filter((entry): entry is [string, string] => Boolean(entry[1]));
  return Object.fromEntries(entries);
}
