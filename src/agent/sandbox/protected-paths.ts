import { isAbsolute, join, relative } from 'node:path';
import type { CommandReading, ReadCommand } from '../permissions/command-reading.ts';

/** What runs git commands later, or names programs for them. */
const GIT_PATHS = ['.git/hooks', '.git/config'];
/** What package managers and others run without being asked. */
const PACKAGE_PATHS = ['node_modules/.bin'];
/** Settings, instructions and start files that programs outside the sandbox obey. */
const SETTINGS_PATHS = [
  ...['.vscode', '.idea', '.envrc', '.mcp.json', 'AGENTS.md', 'CLAUDE.md', '.claude'],
  ...['.bashrc', '.bash_profile', '.profile', '.zshrc', '.zshenv', '.npmrc'],
];

/**
 * What commands cannot change in a root, also where it does not exist, because programs outside the sandbox run it or
 * obey it (decision 81). A folder stands for everything in it.
 */
export const PROTECTED_PATHS: readonly string[] = [...GIT_PATHS, ...PACKAGE_PATHS, ...SETTINGS_PATHS];

/** Whether a path is protected in one of these roots. All paths are absolute and without links. */
export const isProtected = (path: string, roots: readonly string[]): boolean => protectedAt(path, roots).length > 0;

/** The protected paths that a path is, or lies in. */
function protectedAt(path: string, roots: readonly string[]): string[] {
  return roots.flatMap((root) =>
    PROTECTED_PATHS.map((name) => join(root, name)).filter((place) => isWithin(place, path)),
  );
}

const isWithin = (folder: string, path: string): boolean => {
  const way = relative(folder, path);
  return way === '' || !(way === '..' || way.startsWith('../') || isAbsolute(way));
};

/**
 * The protected paths that a command names as what it changes: a person is asked, and then they are writable for this
 * call. A program that changes them without being known for it, such as a script, fails.
 */
export function findProtectedWrites(reading: CommandReading, roots: readonly string[]): string[] {
  const found = new Set<string>();
  const addAll = (names: readonly string[]) => {
    for (const root of roots) for (const name of names) found.add(join(root, name));
  };
  for (const { kind, path } of reading.effects) {
    if (path === undefined || (kind !== 'write' && kind !== 'delete')) continue;
    for (const place of protectedAt(path, roots)) found.add(place);
    // Deleting a folder deletes what is protected in it. Writing to a folder, as most programs do, may not concern it.
    if (kind === 'delete')
      addAll(PROTECTED_PATHS.filter((name) => roots.some((root) => isWithin(path, join(root, name)))));
  }
  for (const command of reading.commands) addAll(writesOf(command));
  return [...found].sort();
}

/** What a known program changes although its arguments do not name it. */
function writesOf({ words }: ReadCommand): readonly string[] {
  const [program = '', ...args] = words.map(({ value = '' }) => value);
  const name = program.slice(program.lastIndexOf('/') + 1);
  const rows = SUBCOMMANDS[name];
  if (rows === undefined) return [];
  const named = args.find((arg, i) => !arg.startsWith('-') && !TAKES_VALUE.has(args[i - 1] ?? ''));
  return rows.flatMap(({ subcommands, writes }) => (named !== undefined && subcommands.includes(named) ? writes : []));
}

/** Options before a subcommand whose value is the next word. */
const TAKES_VALUE = new Set(['-C', '-c', '--git-dir', '--work-tree', '--prefix', '--dir', '--cwd']);

interface SubcommandRow {
  subcommands: readonly string[];
  writes: readonly string[];
}

const INSTALL: SubcommandRow = {
  subcommands: [
    ...['install', 'i', 'ci', 'add', 'remove', 'rm', 'uninstall', 'update', 'up', 'upgrade', 'rebuild', 'link'],
    ...['dedupe', 'prune', 'clean-install', 'install-test', 'it'],
  ],
  writes: PACKAGE_PATHS,
};
const SUBCOMMANDS: Readonly<Record<string, readonly SubcommandRow[]>> = {
  git: [
    {
      subcommands: ['init', 'clone', 'config', 'remote', 'push', 'branch', 'submodule', 'worktree', 'maintenance'],
      writes: GIT_PATHS,
    },
    {
      subcommands: [
        ...['checkout', 'switch', 'pull', 'merge', 'rebase', 'reset', 'restore', 'stash', 'cherry-pick', 'revert'],
        ...['apply', 'am', 'clean', 'rm', 'mv'],
      ],
      writes: SETTINGS_PATHS,
    },
    // Both also store what they follow.
    { subcommands: ['checkout', 'switch', 'pull'], writes: GIT_PATHS.slice(1) },
  ],
  npm: [INSTALL],
  pnpm: [INSTALL],
  yarn: [INSTALL],
  bun: [INSTALL],
};
