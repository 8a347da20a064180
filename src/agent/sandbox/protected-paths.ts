import { isAbsolute, join, relative } from 'node:path';
import type { CommandReading, Effect, ProtectedWrite, ReadCommand } from '../permissions/command-reading.ts';
import { READ_PLACES } from '../project/project-places.ts';

/** What runs git commands later, or names programs for them. */
const GIT_PATHS = ['.git/hooks', '.git/config'];
/** Where git looks for the settings of a repository instead of, or besides, its own. Nothing changes them in passing. */
const GIT_DETOURS = ['.git/commondir', '.git/config.worktree'];
/** What package managers and others run without being asked. */
const PACKAGE_PATHS = ['node_modules/.bin'];
/** What the daemon itself obeys, and settings and start files that other programs outside the sandbox obey. */
const SETTINGS_PATHS = [
  ...READ_PLACES,
  ...['.vscode', '.idea', '.envrc', '.mcp.json'],
  ...['.bashrc', '.bash_profile', '.profile', '.zshrc', '.zshenv', '.npmrc'],
];

/**
 * What commands cannot change in a root, also where it does not exist, because programs outside the sandbox run it or
 * obey it (decision 81). A folder stands for everything in it.
 */
export const PROTECTED_PATHS: readonly string[] = [...GIT_PATHS, ...GIT_DETOURS, ...PACKAGE_PATHS, ...SETTINGS_PATHS];

/** Whether a path is protected in one of these roots. All paths are absolute and without links. */
export const isProtected = (path: string, roots: readonly string[]): boolean => protectedAt(path, roots).length > 0;

/** The protected paths that a path is, or lies in. */
function protectedAt(path: string, roots: readonly string[]): string[] {
  return roots.flatMap((root) =>
    PROTECTED_PATHS.map((name) => join(root, name)).filter((place) => isWithin(place, path)),
  );
}

/** Capital and small letters are the same, as on some file systems. */
const isWithin = (folder: string, path: string): boolean => {
  const way = relative(folder.toLowerCase(), path.toLowerCase());
  return way === '' || !(way === '..' || way.startsWith('../') || isAbsolute(way));
};

/**
 * What a call changes of the protected paths, as far as it is known: a person is asked, and then these places are writable
 * for this call (decision 81). A program that changes them without being known for it, such as a script, fails.
 */
export function findProtectedWrites(reading: CommandReading, roots: readonly string[]): ProtectedWrite[] {
  const implied = reading.commands.map((command, index) => (isIdle(reading, index) ? [] : writesOf(command)));
  const isKnown = ({ by }: Effect) => by !== undefined && (implied[by] ?? []).length > 0;
  const writes = [
    ...reading.effects.flatMap((effect) => changesBy(effect, { roots, isKnown: isKnown(effect) })),
    ...roots.flatMap((root) => implied.flat().map((name) => wholly(join(root, name)))),
  ];
  const distinct = new Map(writes.map((write) => [`${write.place} ${write.path}`, write]));
  return [...distinct].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, write]) => write);
}

const wholly = (place: string): ProtectedWrite => ({ place, path: place });

/** `isKnown`: what the program does besides in the folders that it names is known, too. */
function changesBy(
  { kind, path }: Effect,
  { roots, isKnown }: { roots: readonly string[]; isKnown: boolean },
): ProtectedWrite[] {
  if (path === undefined || (kind !== 'write' && kind !== 'delete')) return [];
  const named = protectedAt(path, roots).map((place) => ({ place, path }));
  // Deleting a folder deletes what is protected in it. Writing to a folder, as most programs do, may not concern it.
  if (kind === 'write' || isKnown) return named;
  return [
    ...named,
    ...placesIn(roots)
      .filter((place) => isWithin(path, place))
      .map(wholly),
  ];
}

const placesIn = (roots: readonly string[]): string[] =>
  roots.flatMap((root) => PROTECTED_PATHS.map((name) => join(root, name)));

/** Whether a command is known completely and changes nothing, such as `git branch` and `git remote -v`. */
const isIdle = ({ effects, gaps }: CommandReading, index: number): boolean =>
  gaps.every(({ reason }) => reason === 'unknown_words') &&
  effects.every(({ by, kind, isIncidental }) => by !== index || isIncidental === true || kind === 'read');

/** What a known program changes although its arguments do not name it. */
function writesOf({ words }: ReadCommand): readonly string[] {
  const [program = '', ...args] = words.map(({ value = '' }) => value);
  const name = program.slice(program.lastIndexOf('/') + 1);
  const rows = SUBCOMMANDS[name];
  if (rows === undefined) return [];
  const at = args.findIndex((arg, i) => !arg.startsWith('-') && !TAKES_VALUE.has(args[i - 1] ?? ''));
  const subcommand = args[at];
  if (subcommand === undefined || isRefOnly(name, subcommand, args.slice(at + 1))) return [];
  return rows.flatMap(({ subcommands, writes }) => (subcommands.includes(subcommand) ? writes : []));
}

/** Git commands that change only branches and commits in this form: `git push origin main`, `git branch x`, `git checkout -b x`. */
function isRefOnly(program: string, subcommand: string, args: readonly string[]): boolean {
  if (program !== 'git') return false;
  const isName = (text: string | undefined) => text !== undefined && text !== '' && !text.startsWith('-');
  if (subcommand === 'push') return args.every(isName);
  if (subcommand === 'branch') return args.length === 1 && isName(args[0]);
  const creates = { checkout: '-b', switch: '-c' }[subcommand];
  return creates !== undefined && args.length === 2 && args[0] === creates && isName(args[1]);
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
    { subcommands: ['sparse-checkout'], writes: ['.git/config', '.git/config.worktree'] },
    // Both also store what they follow.
    { subcommands: ['checkout', 'switch', 'pull'], writes: GIT_PATHS.slice(1) },
  ],
  npm: [INSTALL],
  pnpm: [INSTALL],
  yarn: [INSTALL],
  bun: [INSTALL],
};

/** What a command left behind that programs outside the sandbox may obey. */
export type PlantedPath =
  /** `path`: of the folder with the settings. `why`: what names the programs. All paths are absolute. */
  { kind: 'repository'; path: string; why: string } | { kind: 'link'; path: string };
