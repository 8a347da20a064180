import { accessSync, lstatSync, type Stats, statSync } from 'node:fs';
import { access, constants, lstat, readFile, readlink } from 'node:fs/promises';
import { delimiter, isAbsolute, join, sep } from 'node:path';
import type { Environment } from '../../environment.ts';
import { isInside } from '../tools/files/confinement.ts';

/** The result of looking for a program. The `path` of a found program is absolute and free of links. */
export type Program =
  | { kind: 'found'; path: string }
  | { kind: 'unsafe'; path: string; danger: ProgramDanger }
  | { kind: 'missing' };

/** Why a program on the PATH is not used. `at` is the file or folder that causes it. */
export type ProgramDanger =
  | { kind: 'relative' }
  | { kind: 'packages'; at: string }
  | { kind: 'others'; at: string }
  | { kind: 'own'; at: string }
  | { kind: 'workdir'; at: string };

export interface ProgramSearch {
  environment: Environment;
  /** Folders that the agent or a gateway can write to, with links resolved. */
  avoid: readonly string[];
  /** The user of the daemon; undefined where the system has no user ids. */
  uid: number | undefined;
  platform: NodeJS.Platform;
  /** Also accept programs that the user installed, such as those in `~/.cargo/bin`. */
  acceptOwn?: boolean;
}

/**
 * Looks up a program once, at startup. It is accepted only if nobody but the administrator can replace it, or any
 * folder or link on its path, because it later runs outside the sandbox.
 */
export async function findProgram(name: string, search: ProgramSearch): Promise<Program> {
  let unsafe: Program | undefined;
  for (const entry of (search.environment.PATH || STANDARD_PATH).split(delimiter)) {
    const file = join(entry || '.', name);
    if (!isProgram(file)) continue;
    const way = await followWay(file, lookNow);
    const danger = isAbsolute(file) ? await findDanger(way, search) : ({ kind: 'relative' } as const);
    if (danger === undefined) return { kind: 'found', path: way.real };
    unsafe ??= { kind: 'unsafe', path: file, danger };
  }
  return unsafe ?? { kind: 'missing' };
}

/** Why a program cannot be used, as the second half of a sentence: `bwrap` + ` is not installed`. */
export function whyNot(program: Exclude<Program, { kind: 'found' }>): string {
  if (program.kind === 'missing') return 'is not installed';
  const { path, danger } = program;
  return `was found only at ${path} and is not used: ${toReason(danger)}`;
}

function toReason(danger: ProgramDanger): string {
  switch (danger.kind) {
    case 'relative':
      return 'the PATH entry is not an absolute path';
    case 'packages':
      return `${danger.at} belongs to a project`;
    case 'others':
      return `other users can change ${danger.at}`;
    case 'own':
      return `programs of this user can change ${danger.at}`;
    case 'workdir':
      return `${danger.at} lies in a working directory`;
  }
}

/** Where to look without a PATH. */
export const STANDARD_PATH = '/usr/local/bin:/usr/bin:/bin';

function isProgram(file: string): boolean {
  try {
    if (!statSync(file, { throwIfNoEntry: false })?.isFile()) return false;
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false; // not in this folder, or not accessible
  }
}

/** Everything that decides which file a path leads to. */
export interface Way {
  /** The path without links, as far as it exists. */
  real: string;
  /** All folders and links on the way, and the file itself. */
  passed: Place[];
}

interface Place {
  path: string;
  isLink: boolean;
  isFolder: boolean;
  owner: number;
  mode: number;
}

const MAX_LINKS = 40;

/**
 * Follows a path link by link, because a safe folder is not safe if it is reached through a link that others can
 * change.
 */
export async function followWay(path: string, look: Look = lookLater): Promise<Way> {
  const passed = [await look('/')].filter((place) => place !== undefined);
  const rest = partsOf(path);
  let real = '/';
  let links = 0;
  for (let part = rest.shift(); part !== undefined; part = rest.shift()) {
    const at = join(real, part);
    const place = await look(at);
    if (place === undefined || links > MAX_LINKS) return { real: join(at, ...rest), passed };
    passed.push(place);
    if (!place.isLink) {
      real = at;
      continue;
    }
    links += 1;
    const target = await readlink(at);
    if (isAbsolute(target)) real = '/';
    rest.unshift(...partsOf(target));
  }
  return { real, passed };
}

const partsOf = (path: string): string[] => path.split(sep).filter((part) => part !== '');

/** Undefined if nothing is there, or it is not accessible. */
export type Look = (path: string) => Promise<Place | undefined> | Place | undefined;

const lookLater: Look = async (path) => {
  const stats = await lstat(path).catch(() => undefined);
  return stats && toPlace(path, stats);
};

/** For the start, which waits for it anyway: takes a tenth of the time. */
export const lookNow: Look = (path) => {
  try {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    return stats && toPlace(path, stats);
  } catch {
    return undefined;
  }
};

function toPlace(path: string, stats: Stats): Place {
  const [isLink, isFolder] = [stats.isSymbolicLink(), stats.isDirectory()];
  return { path, isLink, isFolder, owner: stats.uid, mode: stats.mode };
}

/**
 * Whether every user of the machine can replace it. Links have no permissions of their own, and in a sticky folder like
 * /tmp only the owner can replace a file.
 */
export const isOpenToAll = ({ isLink, mode }: Place): boolean => !isLink && (mode & 0o1002) === 0o002;

/** Whether npm installs the programs of a project there; npm puts that folder first in the PATH. */
export const isOfPackages = (path: string): boolean => `${path}/`.includes('/node_modules/.bin/');

export const isInsideAny = (folders: readonly string[], path: string): boolean =>
  folders.some((folder) => isInside(folder, path));

/** Where the system and its package managers put programs, and the links to them. */
const SYSTEM =
  /^\/([^/]+$|(usr(?!\/src\/|\/local\/src\/)|bin|sbin|lib|lib64|etc|nix|gnu|var\/guix|snap|run\/current-system|run\/wrappers|opt\/homebrew)(\/|$))/;

async function findDanger(way: Way, search: ProgramSearch): Promise<ProgramDanger | undefined> {
  const { uid, platform, avoid, acceptOwn = false } = search;
  const packages = way.passed.find(({ path }) => isOfPackages(path));
  if (packages) return { kind: 'packages', at: packages.path };
  const trusted = await trustedOwners(uid);
  const foreign = way.passed.find((place) => isOpenToAll(place) || !trusted.has(place.owner));
  if (foreign) return { kind: 'others', at: foreign.path };
  const changeable = await findChangeable(way, uid);
  if (!changeable) return undefined;
  const avoided = way.passed.find(({ path }) => isInsideAny(avoid, path));
  if (avoided) return { kind: 'workdir', at: avoided.path };
  if (acceptOwn) return undefined;
  // Root can change everything, and on macOS Homebrew's folders belong to the user, so the place decides there.
  const decidesByPlace = uid === 0 || platform === 'darwin';
  const isSystem = way.passed.every(({ path, isFolder }) => isFolder || SYSTEM.test(path));
  return decidesByPlace && isSystem ? undefined : { kind: 'own', at: changeable.path };
}

/** The administrator, and the user that stands for it in a container without user id 0. */
async function trustedOwners(uid: number | undefined): Promise<Set<number>> {
  const own = uid === undefined ? [0] : [0, uid];
  try {
    const map = (await readFile('/proc/self/uid_map', 'utf8')).trim().split(/\s+/).join(' ');
    if (map === '0 0 4294967295') return new Set(own);
    return new Set([...own, Number(await readFile('/proc/sys/kernel/overflowuid', 'utf8'))]);
  } catch {
    return new Set(own); // not Linux
  }
}

/** The last place on the way that this user can change: preferably the file itself, not a folder above it. */
async function findChangeable({ passed }: Way, uid: number | undefined): Promise<Place | undefined> {
  for (const place of passed.toReversed()) {
    if (place.isLink) continue;
    if (place.owner === uid) return place; // the owner can make it writable
    const mayWrite = await access(place.path, constants.W_OK).then(
      () => true,
      () => false,
    );
    if (mayWrite) return place;
  }
  return undefined;
}
