import { closeSync, constants, type Dirent, fstatSync, openSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join, relative, sep } from 'node:path';
import ignore from 'ignore';
import { type IgnorePatterns, toIgnorePatterns } from '../../project/ignore-patterns.ts';
import { IGNORE_FILE } from '../../project/project-places.ts';
import { isSecretPath } from '../files/secret-path.ts';

export interface SearchHit {
  /** Absolute. */
  path: string;
  line: number;
  text: string;
}

export interface SearchRequest {
  /** Absolute folder or file. */
  target: string;
  /** An ancestor of the target; .gitignore files count from here down. */
  root: string;
  query: string;
  glob: string | undefined;
  showSecrets: boolean;
}

/**
 * The built-in search, for machines without ripgrep. Includes hidden folders but not .git; does not follow links.
 * Synchronous, because it runs in a worker, which can be stopped even if an expression never ends. Throws SyntaxError
 * for an invalid expression.
 */
export function* findMatches(request: SearchRequest): Generator<SearchHit> {
  const expression = toExpression(request.query);
  for (const path of walk(request)) yield* findInFile(path, expression);
}

/** True if a .gitignore file between `root` and the file ignores the file by its own name, not by a folder's. */
export function isIgnoredFile(path: string, root: string): boolean {
  return isIgnored(path, { rules: readRulesAbove(path, root), isFolder: false });
}

function toExpression(query: string): RegExp {
  try {
    return new RegExp(query, 'u');
  } catch {
    return new RegExp(query); // the older syntax accepts more, such as an escaped hyphen
  }
}

const MAX_FILE_BYTES = 10 * 1024 * 1024;
/** Rules are also applied outside the worker. */
const MAX_RULES_BYTES = 256 * 1024;
const SNIFFED_BYTES = 8_192;

function* findInFile(path: string, expression: RegExp): Generator<SearchHit> {
  const bytes = readSmallFile(path);
  if (!bytes || bytes.subarray(0, SNIFFED_BYTES).includes(0)) return;
  let line = 0;
  for (const text of bytes.toString('utf8').split('\n')) {
    line += 1;
    if (expression.test(text)) yield { path, line, text: text.slice(0, 1_000).replace(/\r$/, '') };
  }
}

function readSmallFile(path: string, maxBytes = MAX_FILE_BYTES): Buffer | undefined {
  let fd: number | undefined;
  try {
    // Without NONBLOCK, a named pipe would block the whole thread until something writes to it.
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stats = fstatSync(fd);
    return stats.isFile() && stats.size <= maxBytes ? readFileSync(fd) : undefined;
  } catch {
    return undefined; // removed meanwhile, or not readable
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

/** Files below a folder, without those that .gitignore files from `root` down ignore. Does not follow links. */
export const walkFiles = (folder: string, root: string): Generator<string> =>
  walkFolder(folder, readRulesAbove(folder, root));

function* walk({ target, root, glob, showSecrets }: SearchRequest): Generator<string> {
  const wanted = glob === undefined ? undefined : ignore().add(glob);
  const isWanted = (path: string, folder: string) =>
    (showSecrets || !isSecretPath(relative(folder, path))) && (wanted?.ignores(toIgnorePath(folder, path)) ?? true);
  if (statSync(target).isFile()) {
    if (isWanted(target, dirname(target))) yield target;
    return;
  }
  for (const path of walkFiles(target, root)) if (isWanted(path, target)) yield path;
}

interface Rules {
  folder: string;
  rules: IgnorePatterns;
}

function* walkFolder(folder: string, above: Rules[]): Generator<string> {
  const rules = [...above, ...readRules(folder)];
  for (const entry of readFolder(folder)) {
    const path = join(folder, entry.name);
    if (entry.name === '.git' || isIgnored(path, { rules, isFolder: entry.isDirectory() })) continue;
    if (entry.isDirectory()) yield* walkFolder(path, rules);
    else if (entry.isFile()) yield path;
  }
}

function readFolder(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch {
    return []; // removed meanwhile, or not readable
  }
}

/** The rules of the .gitignore files in the folders from `root` to above the target. */
export function readRulesAbove(target: string, root: string, maxBytes?: number): Rules[] {
  const steps = relative(root, target).split(sep).filter(Boolean);
  return steps.flatMap((_, depth) => readRules(join(root, ...steps.slice(0, depth)), maxBytes));
}

/** The rules of the .gitignore file in a folder, if there is one that is not larger. */
export function readRules(folder: string, maxBytes = MAX_RULES_BYTES): Rules[] {
  const text = readSmallFile(join(folder, IGNORE_FILE), maxBytes)?.toString('utf8');
  return text === undefined ? [] : [{ folder, rules: toIgnorePatterns(text) }];
}

/** The deepest matching .gitignore decides. */
export function isIgnored(path: string, { rules, isFolder }: { rules: Rules[]; isFolder: boolean }): boolean {
  let ignored = false;
  for (const { folder, rules: own } of rules) {
    const result = own.test(`${toIgnorePath(folder, path)}${isFolder ? '/' : ''}`);
    ignored = result.ignored || (ignored && !result.unignored);
  }
  return ignored;
}

const toIgnorePath = (folder: string, path: string) => (relative(folder, path) || basename(path)).split(sep).join('/');
