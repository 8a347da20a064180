import { type ChildProcess, spawn } from 'node:child_process';
import { realpath } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { type Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { Clock } from '../../clock.ts';
import type { Environment } from '../../environment.ts';
import { until } from '../../timing/until.ts';
import type { Barrier, Barriers } from '../sandbox/barriers.ts';
import { type MountedRoot, mountsWithin, toBubblewrapArguments } from '../sandbox/bubblewrap-arguments.ts';
import { checkedBy } from '../sandbox/checked-by.ts';
import type { HeldPath } from '../sandbox/held-paths.ts';
import type { MachinePlaces } from '../sandbox/machine-places.ts';
import { PROXY_VARIABLES, toOpenerArguments } from '../sandbox/network/way-out.ts';
import type { PlantedPath } from '../sandbox/protected-paths.ts';
import { PROTECTED_PATHS } from '../sandbox/protected-paths.ts';
import { toSystemCallFilter } from '../sandbox/system-call-filter.ts';
import { isInside } from '../tools/files/confinement.ts';
import { type HeldFolder, holdFolder, wayOf } from '../tools/files/held-folder.ts';
import { withDeadline } from './deadline.ts';
import { toChildEnvironment } from './environment.ts';
import { lookNow, type Program, whyNot } from './programs.ts';
import { withStreams } from './with-streams.ts';

/** Where commands of the agent run: in a sandbox that works on this machine, or without one for a known reason. */
export type Sandbox =
  | {
      kind: 'bubblewrap';
      /** Wraps `argv` so that it runs inside. */
      wrap(argv: readonly string[], access: CommandAccess): Promise<Wrapped>;
      /** The configuration requires it, so nothing runs outside. */
      required: boolean;
      /** A sentence, if it protects less than it could. */
      weaker?: string | undefined;
      /** The filter that bubblewrap reads first, from a descriptor: see `passFilter`. */
      filter: Buffer;
    }
  | {
      kind: 'none';
      /** A clause for people: `bubblewrap is not installed`. */
      reason: string;
      /** The configuration requires a sandbox, so commands are refused. */
      required: boolean;
    };

/** `workspace`: the roots can be written, except for their protected paths. `read-only`: only the private folders. */
export type SandboxTier = 'workspace' | 'read-only';

/** What one command may reach. */
export interface CommandAccess {
  workdir: HeldFolder;
  /** Other roots of the workstream. */
  others: readonly HeldFolder[];
  /** Nobody allowed this call to change them. */
  areOthersReadOnly?: boolean | undefined;
  tier: SandboxTier;
  /** Protected paths that it may change nevertheless, because that was allowed for this call. */
  writable: readonly string[];
  /**
   * With them, it gets a way to the proxy, and to these ports of this machine. That takes the time of a start of Node.
   */
  localPorts: readonly number[] | undefined;
}

/** A command, wrapped to run in the sandbox. */
export interface Wrapped {
  /** The program and its arguments. */
  argv: string[];
  /** Descriptors to pass on, after `FILTER_FD`. With a network, the channel of the opener comes after them. */
  fds: number[];
  /** A path to the workdir for the child, which enters it only when its descriptors have their own numbers. */
  cwd: string;
  /** What it has made that programs outside the sandbox may run. Call it when the command has ended, before `release`. */
  findPlanted?(): Promise<PlantedPath[]>;
  /** Call this when the command has ended. */
  release(): Promise<void>;
}

interface SandboxOptions {
  /** `tools.sandbox` of the configuration. */
  mode: 'auto' | 'required';
  /** Headgate's home: hidden inside, except for a workdir within it. */
  home: string;
  environment: Environment;
  clock: Clock;
  /** Of this machine: bubblewrap, and a shell to test it with. */
  programs: { bwrap: Program; bash: Program };
  /** What is hidden of this machine. */
  places: MachinePlaces;
  barriers: Barriers;
  tmpBytes: number;
  architecture?: NodeJS.Architecture;
}

/** Where bubblewrap reads its filter of system calls. */
const FILTER_FD = 3;
const FIRST_FD = FILTER_FD + 1;

/**
 * Runs the sandbox once to test it, because an installed bubblewrap often does not work (in containers, for example).
 */
export async function detectSandbox(options: SandboxOptions): Promise<Sandbox> {
  const { mode, home, environment, clock, programs, architecture = process.arch } = options;
  const { bwrap, bash } = programs;
  const none = (reason: string): Sandbox => ({ kind: 'none', reason, required: mode === 'required' });
  if (bwrap.kind !== 'found') return none(`bubblewrap ${whyNot(bwrap)}`);
  if (bash.kind !== 'found') return none(`bash ${whyNot(bash)}`);
  const filter = toSystemCallFilter(architecture);
  if (filter === undefined) return none(`Unix sockets cannot be blocked on ${architecture}`);
  const realHome = await realpath(home);
  const machine = { home: realHome, bwrap: bwrap.path, bash: bash.path, options };
  await using held = await holdFolder(realHome);
  const works = (binding: Binding, weaker?: string): Sandbox => ({
    kind: 'bubblewrap',
    wrap: wrapBy(machine, binding),
    required: mode === 'required',
    weaker,
    filter,
  });
  const attempt = async (binding: Binding) => {
    // With everything writable, nothing is made in the folder.
    const writable = PROTECTED_PATHS.map((name) => join(realHome, name));
    const access = { workdir: held, others: [], tier: 'workspace', writable, localPorts: undefined } as const;
    const wrapped = await wrapBy(machine, binding)([bash.path, '--norc', '-c', ':'], access);
    return tryOnce(wrapped, { environment, clock, filter });
  };
  const first = await attempt('descriptor');
  // A machine that is busy with its own start may be too slow at first, and must not lose the better way by that.
  const better = first === undefined || isTooOld(first) ? first : await attempt('descriptor');
  if (better === undefined) return works('descriptor');
  const failure = await attempt('path');
  return failure === undefined ? works('path', toWeaker(better)) : none(failure);
}

const NOT_WORKING = 'bubblewrap does not work here: ';

const isTooOld = (failure: string): boolean => /unknown option/i.test(failure);

const toWeaker = (failure: string): string =>
  `Bubblewrap mounts the folders of commands by their paths only, and /tmp has no size limit in the sandbox: ${failure.replace(NOT_WORKING, '').slice(0, 200)}. ${isTooOld(failure) ? 'Install bubblewrap 0.8 or newer.' : 'Restart Headgate to try again.'}`;

/**
 * How roots are mounted. By its descriptor, a root is certainly the held folder; bubblewrap before 0.8 supports only
 * paths.
 */
type Binding = 'descriptor' | 'path';

interface SandboxMachine {
  home: string;
  bwrap: string;
  bash: string;
  options: Pick<SandboxOptions, 'places' | 'barriers' | 'tmpBytes'>;
}

function wrapBy({ home, bwrap, bash, options }: SandboxMachine, binding: Binding) {
  const { places, barriers, tmpBytes } = options;
  return async (argv: readonly string[], access: CommandAccess): Promise<Wrapped> => {
    const { localPorts } = access;
    const opened = await openRoots(access, { barriers, binding });
    const how = toBubblewrapArguments({
      emptied: places.emptied,
      unreadable: places.unreadable,
      shown: places.shown,
      home,
      roots: opened.roots,
      tmpBytes: binding === 'descriptor' ? tmpBytes : undefined,
      opener: localPorts === undefined ? undefined : process.execPath,
    });
    const proxies = localPorts && Object.entries(PROXY_VARIABLES).flatMap((row) => ['--setenv', ...row]);
    const opener = localPorts && { channel: opened.nextFd, args: toOpenerArguments(localPorts) };
    const mounts = opened.roots.flatMap((root) => mountsWithin(root, home));
    const check = checkedBy(bash, { workdirFd: FIRST_FD, fds: opened.innerFds, mounts, opener });
    return {
      argv: [bwrap, '--seccomp', String(FILTER_FD), ...how, ...(proxies ?? []), '--', ...check, ...argv],
      fds: opened.fds,
      cwd: wayOf({ fd: FIRST_FD }),
      findPlanted: opened.findPlanted,
      release: opened.release,
    };
  };
}

interface OpenedRoots {
  roots: MountedRoot[];
  /** The descriptors to pass on, in this order. */
  fds: number[];
  /** Those that bubblewrap leaves open. */
  innerFds: number[];
  nextFd: number;
  findPlanted(): Promise<PlantedPath[]>;
  release(): Promise<void>;
}

/** Raises the barriers of the roots, and numbers their descriptors. */
async function openRoots(
  { workdir, others, areOthersReadOnly = false, tier, writable }: CommandAccess,
  { barriers, binding }: { barriers: Barriers; binding: Binding },
): Promise<OpenedRoots> {
  const raised: Barrier[] = [];
  const release = async () => {
    for (const barrier of raised.splice(0)) await barrier.remove();
  };
  const roots: MountedRoot[] = [];
  const fds: number[] = [];
  /** Its number in the sandbox. */
  const pass = (fd: number): number => FIRST_FD + fds.push(fd) - 1;
  const passAll = (paths: readonly HeldPath[]) => paths.map(({ name, fd }) => ({ name, fd: pass(fd) }));
  try {
    for (const [i, folder] of [workdir, ...others].entries()) {
      const isWritable = tier === 'workspace' && (i === 0 || !areOthersReadOnly);
      const barrier = isWritable ? await barriers.raise(folder, namesIn(folder.path, writable)) : NO_BARRIER;
      raised.push(barrier);
      const sourceFd = pass(folder.fd);
      const bindFd = binding === 'descriptor' ? pass(folder.fd) : undefined;
      const [readOnly, pinned] = [passAll(barrier.readOnly), passAll(barrier.pinned)];
      roots.push({ path: folder.path, sourceFd, bindFd, isWritable, readOnly, pinned });
    }
  } catch (error) {
    await release();
    throw error;
  }
  const findPlanted = async () => (await Promise.all(raised.map((barrier) => barrier.findPlanted()))).flat();
  const consumed = new Set(roots.map(({ bindFd }) => bindFd));
  const innerFds = fds.map((_, i) => FIRST_FD + i).filter((fd) => !consumed.has(fd));
  return { roots, fds, innerFds, nextFd: FIRST_FD + fds.length, findPlanted, release };
}

const NO_BARRIER: Barrier = {
  readOnly: [],
  pinned: [],
  findPlanted: async () => [],
  remove: async () => undefined,
};

const namesIn = (root: string, paths: readonly string[]): string[] =>
  paths.filter((path) => isInside(root, path)).map((path) => relative(root, path));

/** Passes the filter to a child that was started with a pipe at `FILTER_FD`. Bubblewrap fails without it. */
export function passFilter({ stdio }: Pick<ChildProcess, 'stdio'>, filter: Buffer): void {
  const pipe = stdio[FILTER_FD];
  if (!(pipe instanceof Writable)) return; // the child could not be started
  pipe.on('error', () => undefined); // the child ended before it read the filter
  pipe.end(filter);
}

interface Trial extends Pick<SandboxOptions, 'environment' | 'clock'> {
  filter: Buffer;
}

async function tryOnce(
  { argv: [program = '', ...args], fds, release }: Wrapped,
  { environment, clock, filter }: Trial,
): Promise<string | undefined> {
  using deadline = withDeadline(new AbortController().signal, { clock, ms: 5_000 });
  const env = await toChildEnvironment(environment, [], lookNow);
  let child: ChildProcess | undefined;
  try {
    child = withStreams(spawn(program, args, { env, stdio: ['ignore', 'ignore', 'pipe', 'pipe', ...fds] }));
    const ended = Promise.withResolvers<number | null>();
    child.on('error', ended.reject).on('close', ended.resolve);
    passFilter(child, filter);
    const [code, stderr] = await until(Promise.all([ended.promise, textOf(child.stderr)]), deadline.signal);
    return code === 0 ? undefined : `${NOT_WORKING}${stderr.trim() || `exit code ${code}`}`;
  } catch (error) {
    child?.kill('SIGKILL');
    return `${NOT_WORKING}${String(error)}`;
  } finally {
    await release();
  }
}

const textOf = async (output: Readable | null): Promise<string> => (output === null ? '' : text(output));
