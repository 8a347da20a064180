import path from 'node:path';
import { UsageError } from '../start-error.ts';

/** What surrounds the process. */
export interface Surroundings {
  environment: Readonly<Record<string, string | undefined>>;
  /** The home folder of the person. */
  userHome: string;
  /** Where relative folders of flags and environment start. */
  cwd: string;
}

/** Headgate's home; known before config.json, which lies in it. */
export function resolveHome(flags: { home?: string | undefined }, around: Surroundings): string {
  return resolveFolder(flags.home ?? present(around.environment).HEADGATE_HOME ?? '~/.headgate', around);
}

/** An absolute path; `~` is the person's home folder. */
export function resolveFolder(text: string, { userHome, cwd }: Pick<Surroundings, 'userHome' | 'cwd'>): string {
  if (text.trim() === '') throw new UsageError('A folder is named by an empty text.');
  if (text === '~' || text.startsWith('~/')) return path.join(userHome, text.slice(1));
  return path.resolve(cwd, text);
}

/** An empty variable counts as none. */
export function present(environment: Surroundings['environment']): Partial<Record<string, string>> {
  const entries = Object.entries(environment).filter((entry): entry is [string, string] => Boolean(entry[1]));
  return Object.fromEntries(entries);
}
