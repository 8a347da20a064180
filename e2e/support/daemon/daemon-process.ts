import { type ChildProcess, execFile, type StdioOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { within } from '../deadline.ts';

export interface Exit {
  /** Null when a signal ended it. */
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface DaemonProcess {
  pid: number;
  stdout(): string;
  stderr(): string;
  /** Resolves once stdout, or stderr, holds this; rejects with what stderr says when the process ends without. */
  printed(pattern: RegExp, on?: 'stdout' | 'stderr'): Promise<void>;
  /** Resolves when the process is gone and all it wrote is read. */
  exited: Promise<Exit>;
  kill(signal: NodeJS.Signals): void;
}

interface SpawnOptions {
  /** The file to run; default: what users run. */
  entry?: string | URL | undefined;
  args: readonly string[];
  env: Record<string, string>;
  /** Where it is started. Default: the repository. */
  cwd?: string | undefined;
  /** Another user, which only root can choose; also its group. */
  uid?: number | undefined;
  /** One of ours that it inherits under `INHERITED_FD`, as from a careless program that starts it. */
  descriptor?: number | undefined;
}

/** High enough that Node does not look for it at its start. */
export const INHERITED_FD = 40;

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
/** For coverage, and for tests of code that is being written: without the bundle. */
const STANDARD_ENTRY =
  process.env.E2E_SOURCES === '1' ? 'e2e/support/daemon/daemon-from-sources.ts' : 'bin/headgate.js';

const alive = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of alive) child.kill('SIGKILL');
});

/** Runs `headgate` with `args` in its own process. */
export async function spawnHeadgate({
  entry = STANDARD_ENTRY,
  args,
  env,
  cwd = ROOT,
  uid,
  descriptor,
}: SpawnOptions): Promise<DaemonProcess> {
  await bundleUpToDate();
  const file = entry instanceof URL ? fileURLToPath(entry) : path.resolve(ROOT, entry);
  const child = spawn(process.execPath, [file, ...args], {
    cwd,
    env: cleanEnvironment(file, env),
    stdio: descriptor === undefined ? 'pipe' : stdioWith(descriptor),
    ...(uid !== undefined && { uid, gid: uid }),
  });
  const { stdin, stdout, stderr } = child;
  if (stdin === null || stdout === null || stderr === null) throw new Error('the daemon has no pipes');
  stdin.end();
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

/** Builds what of dist/ is older than its sources, once; `npm test` has done so. */
export function bundleUpToDate(): Promise<unknown> {
  if (process.env.E2E_BUILT === '1') return Promise.resolve();
  built ??= promisify(execFile)(process.execPath, ['scripts/build.js', '--if-stale'], { cwd: ROOT });
  return built;
}

const KEPT = ['PATH', 'LANG', 'TMPDIR'];

/**
 * Keys and settings of whoever runs the tests must not reach the daemon. Coverage is counted in sources only: what a bundle
 * writes down of it takes time and is thrown away. Node would pass the variable on if it were only missing.
 */
function cleanEnvironment(file: string, env: Record<string, string>): NodeJS.ProcessEnv {
  const kept = KEPT.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]]));
  const NODE_V8_COVERAGE = file.endsWith('.ts') ? process.env.NODE_V8_COVERAGE : undefined;
  // Hundreds of processes run the same bundle, each from a home that is new.
  const { NODE_COMPILE_CACHE } = process.env;
  return { ...Object.fromEntries(kept), NODE_V8_COVERAGE, NODE_COMPILE_CACHE, ...env };
}
