import { type ChildProcess, spawn } from 'node:child_process';
import { access, constants, realpath } from 'node:fs/promises';
import { type Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { Clock } from '../../clock.ts';
import type { Environment } from '../../environment.ts';
import { until } from '../../timing/until.ts';
import { type HeldFolder, holdFolder } from '../tools/files/held-folder.ts';
import { withDeadline } from './deadline.ts';
import { toChildEnvironment } from './environment.ts';
import { type Program, whyNot } from './programs.ts';
import { toSocketFilter } from './socket-filter.ts';

/** Where commands of the agent run: in a sandbox that works on this machine, or without one for a known reason. */
export type Sandbox =
  | {
      kind: 'bubblewrap';
      /** Wraps `argv` so that it runs inside, with the working directory as the only writable place on disk. */
      wrap(argv: readonly string[], workdir: HeldFolder): Promise<Wrapped>;
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

interface Wrapped {
  /** The program and its arguments. */
  argv: string[];
  /** Descriptors to pass on, after `FILTER_FD`. */
  fds: number[];
}

interface SandboxOptions {
  /** `tools.sandbox` of the configuration. */
  mode: 'auto' | 'off' | 'required';
  /** Headgate's home: hidden inside, except for a workdir within it. */
  home: string;
  environment: Environment;
  clock: Clock;
  /** Of this machine: bubblewrap, and a shell to test it with. */
  programs: { bwrap: Program; bash: Program };
  architecture?: NodeJS.Architecture;
}

/** Where bubblewrap reads its filter of system calls. */
const FILTER_FD = 3;
/** Where the check inside finds the working directory, and where bubblewrap does. */
const CHECK_FD = 4;
const BIND_FD = 5;

/**
 * Runs the sandbox once to test it, because an installed bubblewrap often does not work (in containers, for example).
 */
export async function detectSandbox(options: SandboxOptions): Promise<Sandbox> {
  const { mode, home, environment, clock, programs, architecture = process.arch } = options;
  const { bwrap, bash } = programs;
  const none = (reason: string): Sandbox => ({ kind: 'none', reason, required: mode === 'required' });
  if (mode === 'off') return none('switched off by tools.sandbox');
  if (bwrap.kind !== 'found') return none(`bubblewrap ${whyNot(bwrap)}`);
  if (bash.kind !== 'found') return none(`bash ${whyNot(bash)}`);
  const filter = toSocketFilter(architecture);
  if (filter === undefined) return none(`Unix sockets cannot be blocked on ${architecture}`);
  const realHome = await realpath(home);
  const wrapBy = (binding: Binding) => async (argv: readonly string[], workdir: HeldFolder) => {
    const places = { home: realHome, workdir: workdir.path, resolver: await findResolver() };
    const how = ['--seccomp', String(FILTER_FD), ...toBubblewrapArguments(places, binding)];
    const { fd } = workdir;
    return {
      argv: [bwrap.path, ...how, '--', ...checkedBy(bash.path), ...argv],
      fds: binding === 'descriptor' ? [fd, fd] : [fd],
    };
  };
  await using held = await holdFolder(realHome);
  const attempt = async (wrap: ReturnType<typeof wrapBy>) =>
    tryOnce(await wrap([bash.path, '--norc', '-c', ':'], held), { environment, clock, filter });
  if ((await attempt(wrapBy('descriptor'))) === undefined) {
    return { kind: 'bubblewrap', wrap: wrapBy('descriptor'), filter };
  }
  const failure = await attempt(wrapBy('path'));
  return failure === undefined ? { kind: 'bubblewrap', wrap: wrapBy('path'), filter } : none(failure);
}

/**
 * How the working directory is mounted. By its descriptor, it is certainly the held folder; bubblewrap before 0.8
 * supports only paths.
 */
type Binding = 'descriptor' | 'path';

/**
 * Checks inside the sandbox, before the command, that it is in the held folder. Renaming the folder outside removes the
 * mount from its path, and another folder may lie there then. The descriptor is closed, because it leads out of the
 * sandbox; bubblewrap closes its own.
 */
const checkedBy = (bash: string): string[] => [
  ...[bash, '--noprofile', '--norc', '-c'],
  `[ . -ef /proc/self/fd/${CHECK_FD} ] || { echo "The working directory was replaced by another folder; nothing was run."; exit 125; }; ` +
    `exec ${CHECK_FD}<&-; exec "$@"`,
  'headgate',
];

/** Passes the filter to a child that was started with a pipe at `FILTER_FD`. Bubblewrap fails without it. */
export function passFilter({ stdio }: Pick<ChildProcess, 'stdio'>, filter: Buffer): void {
  const pipe = stdio[FILTER_FD];
  if (!(pipe instanceof Writable)) return; // the child could not be started
  pipe.on('error', () => undefined); // the child ended before it read the filter
  pipe.end(filter);
}

/**
 * The sandbox: read-only system, fresh /proc (own pid namespace, so the daemon's environment is out of reach), private
 * /tmp and /run (sockets there, such as docker's or a session bus, run things outside), Headgate's home hidden, workdir
 * writable. The network is shared (decision 15).
 */
export function toBubblewrapArguments(
  { home, workdir, resolver }: SandboxPlaces,
  binding: Binding = 'descriptor',
): string[] {
  const mountWorkdir = binding === 'descriptor' ? ['--bind-fd', `${BIND_FD}`, workdir] : ['--bind', workdir, workdir];
  // A mount hides what lies below it, so a folder is mounted before the folders inside it. For equal paths the last one
  // wins.
  const mounts = [
    { at: '/tmp', how: ['--tmpfs', '/tmp'] },
    { at: '/run', how: ['--tmpfs', '/run'] },
    ...resolver.map((at) => ({ at, how: ['--ro-bind', at, at] })),
    { at: home, how: ['--tmpfs', home] },
    { at: workdir, how: mountWorkdir },
  ].sort((a, b) => depth(a.at) - depth(b.at));
  return [
    ...['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc'],
    // Root can write kernel settings without any capability, and one of them names a program that runs outside.
    ...['--ro-bind', '/proc/sys', '/proc/sys'],
    ...mounts.flatMap((mount) => mount.how),
    ...['--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try'],
    // Otherwise, a daemon run by root would keep the right to unmount what hides the home.
    ...['--cap-drop', 'ALL', '--die-with-parent', '--new-session'],
    // The user's caches are read-only inside.
    ...[
      '--setenv',
      'TMPDIR',
      '/tmp',
      '--setenv',
      'XDG_CACHE_HOME',
      '/tmp/.cache',
      '--setenv',
      'npm_config_cache',
      '/tmp/.npm',
    ],
    ...['--chdir', workdir],
  ];
}

interface SandboxPlaces {
  home: string;
  workdir: string;
  /** Folders below /run that /etc/resolv.conf points into. */
  resolver: readonly string[];
}

const RESOLVERS = ['/run/systemd/resolve', '/run/resolvconf', '/run/NetworkManager'];

async function findResolver(): Promise<string[]> {
  const readable = await Promise.all(
    RESOLVERS.map((folder) =>
      access(folder, constants.R_OK).then(
        () => true,
        () => false, // this machine resolves names in another way
      ),
    ),
  );
  return RESOLVERS.filter((_, i) => readable[i]);
}

const depth = (path: string) => (path === '/' ? 0 : path.split('/').length);

interface Trial extends Pick<SandboxOptions, 'environment' | 'clock'> {
  filter: Buffer;
}

async function tryOnce(
  { argv: [program = '', ...args], fds }: Wrapped,
  { environment, clock, filter }: Trial,
): Promise<string | undefined> {
  using deadline = withDeadline(new AbortController().signal, { clock, ms: 5_000 });
  const child = spawn(program, args, {
    env: await toChildEnvironment(environment, []),
    stdio: ['ignore', 'ignore', 'pipe', 'pipe', ...fds],
  });
  const ended = Promise.withResolvers<number | null>();
  child.on('error', ended.reject).on('close', ended.resolve);
  passFilter(child, filter);
  try {
    const [code, stderr] = await until(Promise.all([ended.promise, textOf(child.stderr)]), deadline.signal);
    return code === 0 ? undefined : `bubblewrap does not work here: ${stderr.trim() || `exit code ${code}`}`;
  } catch (error) {
    child.kill('SIGKILL');
    return `bubblewrap does not work here: ${String(error)}`;
  }
}

const textOf = async (output: Readable | null): Promise<string> => (output === null ? '' : text(output));
