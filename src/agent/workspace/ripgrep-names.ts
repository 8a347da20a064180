import { spawn } from 'node:child_process';
import { withStreams } from '../process/with-streams.ts';

/** Names of files below a folder, relative to it; without those that .gitignore ignores or that are not UTF-8. */
export async function* namesWithRipgrep(program: string, folder: string, signal: AbortSignal): AsyncGenerator<string> {
  signal.throwIfAborted();
  const child = withStreams(
    spawn(program, NAME_ARGUMENTS, { argv0: 'rg', cwd: folder, env: {}, stdio: ['ignore', 'pipe', 'ignore'] }),
  );
  const exited = new Promise<unknown>((resolve, reject) => child.on('error', reject).on('close', resolve));
  exited.catch(() => undefined); // awaited below, but it may reject earlier
  const kill = () => void child.kill('SIGKILL');
  signal.addEventListener('abort', kill, { once: true });
  try {
    let rest = '';
    for await (const chunk of child.stdout.setEncoding('utf8')) {
      const names = (rest + chunk).split('\0');
      rest = names.pop() ?? '';
      for (const name of names) if (!name.includes('\uFFFD')) yield name;
    }
    await exited;
    signal.throwIfAborted();
  } finally {
    signal.removeEventListener('abort', kill);
    kill();
  }
}

const NAME_ARGUMENTS = [
  ...['--files', '--null', '--no-config', '--no-messages', '--hidden', '--no-require-git', '--no-follow'],
  ...['--no-ignore-global', '--no-ignore-exclude', '--no-ignore-dot', '--no-ignore-parent', '--glob=!.git'],
];
