import { spawn } from 'node:child_process';
import { access, constants, realpath } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import type { Clock } from '../../clock.ts';
import { until } from '../../until.ts';
import { withDeadline } from './deadline.ts';
import { type Environment, toChildEnvironment } from './environment.ts';

/** Where commands of the agent run: in a sandbox that works on this machine, or without one, and then for a known reason. */
export type Sandbox =
  | {
      kind: 'bubblewrap';
      /** The program and arguments that run `argv` inside, with the workdir as the only writable place of the disk. */
      wrap(argv: readonly string[], workdir: string): Promise<string[]>;
    }
  | {
      kind: 'none';
      /** One clause for people: `bubblewrap is not installed`. */
      reason: string;
      /** The configuration wants a sandbox or nothing: commands are refused. */
      required: boolean;
    };

interface SandboxOptions {
  /** `tools.sandbox` of the configuration. */
  mode: 'auto' | 'off' | 'required';
  /** Headgate's home: invisible inside, but for a workdir that lies in it. */
  home: string;
  environment: Environment;
  clock: Clock;
  /** The bubblewrap program. */
  program?: string;
}

/** Finds out by running it once whether the sandbox works here; an installed bubblewrap often may not (containers). */
export async function detectSandbox({
  mode,
  home,
  environment,
  clock,
  program = 'bwrap',
}: SandboxOptions): Promise<Sandbox> {
  if (mode === 'off') return { kind: 'none', reason: 'switched off by tools.sandbox', required: false };
  const realHome = await realpath(home);
  const wrap = async (argv: readonly string[], workdir: string) => [
    program,
    ...toBubblewrapArguments({ home: realHome, workdir: await realpath(workdir), resolver: await findResolver() }),
    '--',
    ...argv,
  ];
  const failure = await tryOnce(await wrap(['true'], realHome), { environment, clock });
  if (failure === undefined) return { kind: 'bubblewrap', wrap };
  return { kind: 'none', reason: failure, required: mode === 'required' };
}

/**
 * Read-only system, fresh /proc (own pid namespace: the daemon's environment is out of reach), private /tmp and /run (the
 * sockets there, such as docker's or a session bus, run things outside), Headgate's home hidden, workdir writable. The
 * network stays (decision 15).
 */
export function toBubblewrapArguments({ home, workdir, resolver }: SandboxPlaces): string[] {
  // A mount hides what lies below it, so a folder is mounted before the folders inside it (equal paths: last one shows).
  const mounts = [
    { at: '/tmp', how: ['--tmpfs', '/tmp'] },
    { at: '/run', how: ['--tmpfs', '/run'] },
    ...resolver.map((at) => ({ at, how: ['--ro-bind', at, at] })),
    { at: home, how: ['--tmpfs', home] },
    { at: workdir, how: ['--bind', workdir, workdir] },
  ].sort((a, b) => depth(a.at) - depth(b.at));
  return [
    ...['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc'],
    ...mounts.flatMap((mount) => mount.how),
    ...['--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try'],
    // A daemon run by root would otherwise keep the right to unmount what hides the home.
    ...['--cap-drop', 'ALL', '--die-with-parent', '--new-session'],
    // The user's own caches are read-only inside.
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

async function tryOnce(
  [program = '', ...args]: string[],
  { environment, clock }: Pick<SandboxOptions, 'environment' | 'clock'>,
): Promise<string | undefined> {
  using deadline = withDeadline(new AbortController().signal, { clock, ms: 5_000 });
  const child = spawn(program, args, {
    env: toChildEnvironment(environment),
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = Promise.withResolvers<number | null>();
  child.on('error', ended.reject).on('close', ended.resolve);
  try {
    const [code, stderr] = await until(Promise.all([ended.promise, text(child.stderr)]), deadline.signal);
    return code === 0 ? undefined : `bubblewrap does not work here: ${stderr.trim() || `exit code ${code}`}`;
  } catch (error) {
    child.kill('SIGKILL');
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    return isMissing ? 'bubblewrap is not installed' : `bubblewrap does not work here: ${String(error)}`;
  }
}
