import { join } from 'node:path';
import { isInside } from '../tools/files/confinement.ts';
import type { HeldPath } from './held-paths.ts';
import type { MachinePlaces } from './machine-places.ts';

/** A root as bubblewrap mounts it. */
export interface MountedRoot {
  path: string;
  /**
   * The descriptor that bubblewrap mounts and closes. By its descriptor it is certainly the held folder. Undefined where
   * bubblewrap (before 0.8) mounts only paths.
   */
  bindFd: number | undefined;
  /** The descriptor through which paths in the root are found; the command does not keep it. */
  sourceFd: number;
  isWritable: boolean;
  /** Protected paths. Their descriptors are those of the sandbox; the command does not keep them. */
  readOnly: readonly HeldPath[];
  /** Folders around protected paths. */
  pinned: readonly HeldPath[];
}

/** What the sandbox of one command contains. */
export interface SandboxPlaces extends MachinePlaces {
  /** Headgate's home: hidden, except for a root within it. */
  home: string;
  /** The first one is the working directory. */
  roots: readonly MountedRoot[];
  /** The limit of each private folder; undefined where bubblewrap has none. */
  tmpBytes: number | undefined;
  /** A program that opens the way to the proxy; undefined: no network. */
  opener: string | undefined;
}

/** Where the opener lies inside. */
export const OPENER_PATH = '/run/headgate/opener';

interface Mount {
  at: string;
  how: string[];
}

/**
 * The sandbox: read-only system without homes and secrets, fresh /proc (own pid namespace, so the daemon's environment
 * is out of reach), private /tmp and /run (sockets there, such as docker's or a session bus, run things outside), roots
 * writable except for protected paths, and a network that leads nowhere (decision 81).
 */
export function toBubblewrapArguments(places: SandboxPlaces): string[] {
  const { roots } = places;
  const size = places.tmpBytes === undefined ? [] : ['--size', String(places.tmpBytes)];
  const empty = (at: string): Mount => ({ at, how: [...size, '--tmpfs', at] });
  const show = (at: string): Mount => ({ at, how: ['--ro-bind', at, at] });
  const isInRoot = (path: string) => roots.some((root) => isInside(root.path, path));
  // A mount hides what lies below it, so a folder is mounted before the folders inside it. For equal paths the last one
  // wins.
  const mounts = [
    ...[...places.emptied, '/tmp', '/run', '/dev/shm'].map(empty),
    ...places.shown.filter((path) => !isInRoot(path)).map(show),
    ...places.unreadable.filter((path) => !isInRoot(path)).map(toUnreadable),
    ...(places.opener === undefined ? [] : [{ at: OPENER_PATH, how: ['--ro-bind', places.opener, OPENER_PATH] }]),
    empty(places.home),
    ...roots.flatMap((root) => toRootMounts(root, places.home)),
  ].sort((a, b) => depth(a.at) - depth(b.at));
  return [
    ...['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc'],
    // Root can write kernel settings without any capability, and one of them names a program that runs outside.
    ...['--ro-bind', '/proc/sys', '/proc/sys'],
    ...mounts.flatMap((mount) => mount.how),
    ...['--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-net', '--unshare-cgroup-try'],
    // Otherwise, a daemon run by root would keep the right to unmount what hides the home.
    ...['--cap-drop', 'ALL', '--die-with-parent', '--new-session'],
    ...CACHES,
    ...['--chdir', roots[0]?.path ?? '/'],
  ];
}

/** The user's caches do not exist inside. */
const CACHES = [
  ...['--setenv', 'TMPDIR', '/tmp', '--setenv', 'XDG_CACHE_HOME', '/tmp/.cache'],
  ...['--setenv', 'npm_config_cache', '/tmp/.npm'],
];

/** A device in a mount without devices: opening it fails. */
const toUnreadable = (at: string): Mount => ({ at, how: ['--ro-bind', '/dev/null', at] });

function toRootMounts(root: MountedRoot, home: string): Mount[] {
  const { path, bindFd, isWritable } = root;
  const verb = isWritable ? '--bind' : '--ro-bind';
  const how = bindFd === undefined ? [verb, path, path] : [`${verb}-fd`, String(bindFd), path];
  const within = mountsWithin(root, home).map(({ at, verb, fd }) => ({ at, how: [verb, `/proc/self/fd/${fd}`, at] }));
  return [{ at: path, how }, ...within];
}

/** What is mounted over itself inside a root. */
export interface InnerMount {
  at: string;
  verb: '--bind' | '--ro-bind';
  fd: number;
}

/** The home stays hidden where it is a protected path itself, such as the usual one if the root is the folder of its user. */
export function mountsWithin({ path, isWritable, readOnly, pinned }: MountedRoot, home: string): InnerMount[] {
  if (!isWritable) return [];
  const isHidden = (at: string) => isInside(home, at) && !isInside(home, path);
  const toMount =
    (verb: InnerMount['verb']) =>
    ({ name, fd }: HeldPath) => ({ at: join(path, name), verb, fd });
  return [...pinned.map(toMount('--bind')), ...readOnly.map(toMount('--ro-bind'))].filter(({ at }) => !isHidden(at));
}

const depth = (path: string) => (path === '/' ? 0 : path.split('/').length);
