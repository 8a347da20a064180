import { type ChildProcess, execFile, type StdioOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { within } from '../deadline.ts';

export interface Exit {
  /** Null if a signal ended it. */
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface DaemonProcess {
  pid: number;
  stdout(): string;
  stderr(): string;
  /** Resolves once stdout, or stderr, contains this; rejects with stderr if the process ends before. */
  printed(pattern: RegExp, on?: 'stdout' | 'stderr'): Promise<void>;
  /** Resolves when the process has ended and all its output has been read. */
  exited: Promise<Exit>;
  kill(signal: NodeJS.Signals): void;
}

interface SpawnOptions {
  /** The file to run. Default: the file that users run. */
  entry?: string | URL | undefined;
  args: readonly string[];
  env: Record<string, string>;
  /** Its working directory. Default: the repository. */
  cwd?: string | undefined;
  /** Another user and its group; only root can choose it. */
  uid?: number | undefined;
  /** A file descriptor that it inherits as `INHERITED_FD`, as from a careless parent. */
  descriptor?: number | undefined;
  /** Written to its stdin. */
  input?: string | undefined;
  /** A program with arguments that becomes Headgate: `ip netns exec …`. */
  through?: readonly string[] | undefined;
}

/** High enough that Node does not check it at startup. */
export const INHERITED_FD = 40;

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
/** Runs the sources instead of the bundle, for coverage and for tests during development. */
const STANDARD_ENTRY =
  process.env.E2E_SOURCES === '1' ? 'e2e/support/daemon/daemon-from-sources.ts' : 'bin/headgate.js';

const alive = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of alive) child.kill('SIGKILL');
});

/** Runs `headgate` with `args` in a separate process. */
export async function spawnHeadgate({
  entry = STANDARD_ENTRY,
  args,
  env,
  cwd = ROOT,
  uid,
  descriptor,
  input = '',
  through = [],
}: SpawnOptions): Promise<DaemonProcess> {
  await bundleUpToDate();
  const file = entry instanceof URL ? fileURLToPath(entry) : path.resolve(ROOT, entry);
  const [program = process.execPath, ...more] = [...through, process.execPath, file, ...args];
  const child = spawn(program, more, {
    cwd,
    env: cleanEnvironment(file, env),
    stdio: descriptor === undefined ? 'pipe' : stdioWith(descriptor),
    ...(uid !== undefined && { uid, gid: uid }),
  });
  const { stdin, stdout, stderr } = child;
  if (stdin === null || stdout === null || stderr === null) throw new Error('the daemon has no pipes');
  stdin.on('error', () => undefined); // it ended without reading it
  stdin.end(input);
  const read = { stdout: '', stderr: '' };
  const waiting = new Set<() => void>();
  for (const [name, stream] of [
    ['stdout', stdout],
    ['stderr', stderr],
  ] as const) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      read[name] += text;
      for (const look of [...waiting]) look();
    });
  }
  alive.add(child);
  const exited = once(child, 'close').then(([code, signal]): Exit => {
    alive.delete(child);
    return { code, signal };
  });
  return {
    pid: child.pid ?? 0,
    stdout: () => read.stdout,
    stderr: () => read.stderr,
    async printed(pattern, on = 'stdout') {
      const seen = Promise.withResolvers<void>();
      const look = () => pattern.test(read[on]) && seen.resolve();
      waiting.add(look);
      look();
      const failed = exited.then(({ code, signal }) => {
        throw new Error(`the process ended with ${code ?? signal}: ${read.stderr.trim()}`);
      });
      const what = () => `${pattern} on ${on}; stderr: ${read.stderr}`;
      await within(Promise.race([seen.promise, failed]), 60_000, what).finally(() => waiting.delete(look));
    },
    exited,
    kill: (signal) => void child.kill(signal),
  };
}

const stdioWith = (descriptor: number): StdioOptions => [
  ...(['pipe', 'pipe', 'pipe'] as const),
  ...Array<'ignore'>(INHERITED_FD - 3).fill('ignore'),
  descriptor,
];

let built: Promise<unknown> | undefined;

/** Builds the outdated parts of dist/ once; `npm test` has done so already. */
export function bundleUpToDate(): Promise<unknown> {
  if (process.env.E2E_BUILT === '1') return Promise.resolve();
  built ??= promisify(execFile)(process.execPath, ['scripts/build.js', '--if-stale'], { cwd: ROOT });
  return built;
}

/** A scripted model knows what it is asked, and in which order. */
const NO_TITLES = { HEADGATE_SKIP_TITLES: '1', HEADGATE_SKIP_JUDGE_MODEL: '1' };

const KEPT = ['PATH', 'LANG', 'TMPDIR'];

/**
 * The keys and settings of the user who runs the tests must not reach the daemon. Coverage counts sources only: writing the
 * coverage of a bundle takes time for nothing. Node would pass the variable on if it were only missing here.
 */
function cleanEnvironment(file: string, env: Record<string, string>): NodeJS.ProcessEnv {
  const kept = KEPT.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]]));
  const NODE_V8_COVERAGE = file.endsWith('.ts') ? process.env.NODE_V8_COVERAGE : undefined;
  // Hundreds of processes run the same bundle, each with a new home.
  const { NODE_COMPILE_CACHE } = process.env;
  return { ...Object.fromEntries(kept), NODE_V8_COVERAGE, NODE_COMPILE_CACHE, ...NO_TITLES, ...env };
}
