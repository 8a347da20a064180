import path from 'node:path';
import type { CommandReading, Effect, ReadCommand } from './command-reading.ts';
import { escapeGlob, toNameMatcher, toPlainText } from './reading/globs.ts';

/** The part of the file system that names are resolved with. */
export interface NameReader {
  /** The path without links; undefined if nothing is there. */
  realpath(path: string): Promise<string | undefined>;
  /** The names in a folder; empty if it cannot be read. */
  list(folder: string): Promise<readonly string[]>;
}

/** Patterns that match more are not resolved. */
const MAX_MATCHES = 200;

/**
 * The reading with real paths, and with the files that patterns match at this moment, so that paths can be compared. A
 * pattern that matches nothing has no effect, except that it creates a file of its own name. `folder`: the working directory,
 * which has no links.
 */
export async function resolveLinks(
  reading: CommandReading,
  names: NameReader,
  folder: string,
): Promise<CommandReading> {
  const each = lookUpOnce(names, folder);
  const [resolved, commands] = await Promise.all([
    Promise.all(reading.effects.map((effect) => resolveEffect(effect, each))),
    Promise.all(reading.commands.map((command) => resolveFolder(command, each))),
  ]);
  return { ...reading, commands, effects: resolved.flat() };
}

/** Most names of a command are that of its folder, or are in it; each look-up is a trip through Node's threads. */
function lookUpOnce(names: NameReader, folder: string): NameReader {
  const known = new Map<string, Promise<string | undefined>>([[folder, Promise.resolve(folder)]]);
  return {
    realpath(path) {
      const real = known.get(path) ?? names.realpath(path);
      known.set(path, real);
      return real;
    },
    list: (path) => names.list(path),
  };
}

async function resolveFolder(command: ReadCommand, names: NameReader): Promise<ReadCommand> {
  return command.folder === undefined ? command : { ...command, folder: await toRealPath(command.folder, names) };
}

async function resolveEffect(effect: Effect, names: NameReader): Promise<Effect[]> {
  const { path: plain, glob, repositoryOf } = effect;
  if (repositoryOf !== undefined) return [{ ...effect, repositoryOf: await toRealPath(repositoryOf, names) }];
  if (plain !== undefined) return [{ ...effect, path: await toRealPath(plain, names) }];
  if (glob === undefined) return [effect];
  const matches = await expandGlob(glob, names);
  if (matches === undefined) return [withoutGlob(effect)];
  // The pattern itself stays: what it may match in a moment is within it.
  const [start = '', rest = ''] = splitGlob(glob);
  const real = path.join(escapeGlob(await toRealPath(start, names)), rest);
  const files = await Promise.all(matches.map((match) => toRealPath(match, names)));
  return [{ ...effect, glob: real }, ...files.map((file) => ({ ...effect, path: file }))];
}

function withoutGlob({ glob: _, ...effect }: Effect): Effect {
  return effect;
}

/** The real path of what exists; a name that does not exist yet stays below its folder. */
export async function toRealPath(file: string, names: Pick<NameReader, 'realpath'>): Promise<string> {
  const missing: string[] = [];
  for (let each = file; each !== '/' && each !== ''; each = each.replace(/\/[^/]*$/, '') || '/') {
    const real = await names.realpath(each);
    if (real !== undefined) return [real.replace(/\/$/, ''), ...missing].join('/');
    missing.unshift(each.slice(each.lastIndexOf('/') + 1));
  }
  return file;
}

/** The folder before the first name with a special character, and the rest. */
function splitGlob(glob: string): [folder: string, rest: string] {
  const parts = glob.split('/');
  const from = parts.findIndex((part) => toPlainText(part) === undefined);
  const folder = parts.slice(0, from).map((part) => toPlainText(part) ?? part);
  return [folder.join('/') || '/', parts.slice(from).join('/')];
}

async function expandGlob(glob: string, names: NameReader): Promise<string[] | undefined> {
  const [start, rest] = splitGlob(glob);
  let found = [start];
  for (const part of rest.split('/').filter((each) => each !== '')) {
    const plain = toPlainText(part);
    const next = await Promise.all(
      found.map((folder) => (plain === undefined ? listMatches(folder, part, names) : [path.join(folder, plain)])),
    );
    found = next.flat();
    if (found.length > MAX_MATCHES) return undefined;
  }
  return found;
}

async function listMatches(folder: string, part: string, names: NameReader): Promise<string[]> {
  const fits = toNameMatcher(part);
  const all = await names.list(folder);
  return all.filter((name) => fits(name)).map((name) => path.join(folder, name));
}
