import { spawn } from 'node:child_process';
import { SAFE_GIT_OPTIONS } from '../../../environment.ts';

/** A git without the configuration of the repository, the user and the machine, which could name programs to run. */
export interface GitRun {
  program: string;
  args: readonly string[];
  /** The working tree. */
  cwd: string;
  /** A private git folder; the configuration in it is ours. */
  gitDir: string;
  /** The `.git` folder of the repository. The child gets it as its fourth file. */
  repository: { fd: number; way: string };
  maxBytes: number;
  signal: AbortSignal;
}

export interface GitOutput {
  bytes: Buffer;
  /** There was more than `maxBytes`. */
  isCut: boolean;
  code: number | null;
}

/** Runs until the end, the limit of the output or the signal. Rejects with the reason of the signal. */
export async function runGit({ program, args, cwd, gitDir, repository, maxBytes, signal }: GitRun): Promise<GitOutput> {
  signal.throwIfAborted();
  const child = spawn(program, [...SAFE_GIT_OPTIONS, '--literal-pathspecs', ...args], {
    argv0: 'git',
    cwd,
    env: environmentOf(gitDir, repository.way.startsWith('/proc/self/fd/') ? '/proc/self/fd/3' : repository.way),
    stdio: ['ignore', 'pipe', 'ignore', repository.fd],
  });
  const ended = new Promise<number | null>((resolve, reject) => child.on('error', reject).on('close', resolve));
  ended.catch(() => undefined); // awaited below, but it may reject earlier
  const kill = () => void child.kill('SIGKILL');
  signal.addEventListener('abort', kill, { once: true });
  try {
    const chunks: Buffer[] = [];
    let size = 0;
    child.stdout?.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      size += chunk.length;
      if (size > maxBytes) kill();
    });
    const code = await ended;
    signal.throwIfAborted();
    return { bytes: Buffer.concat(chunks).subarray(0, maxBytes), isCut: size > maxBytes, code };
  } finally {
    signal.removeEventListener('abort', kill);
    kill();
  }
}

const environmentOf = (gitDir: string, repository: string): Record<string, string> => ({
  LC_ALL: 'C',
  GIT_DIR: gitDir,
  GIT_WORK_TREE: '.',
  GIT_OBJECT_DIRECTORY: `${repository}/objects`,
  GIT_INDEX_FILE: `${repository}/index`,
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_ATTR_NOSYSTEM: '1',
  GIT_NO_REPLACE_OBJECTS: '1',
  GIT_NO_LAZY_FETCH: '1', // a partial clone would fetch what is missing
  GIT_OPTIONAL_LOCKS: '0', // nothing is written
  GIT_TERMINAL_PROMPT: '0',
});
