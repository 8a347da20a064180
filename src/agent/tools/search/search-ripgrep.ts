import { spawn } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { withStreams } from '../../process/with-streams.ts';
import { ToolProblem } from '../tool-problem.ts';
import { isIgnoredFile, type SearchHit, type SearchRequest } from './search-files.ts';

/** Runs ripgrep until it ends, the reader stops or the signal aborts. Its arguments never pass through a shell. */
export async function* searchWithRipgrep(
  program: string,
  request: SearchRequest,
  signal: AbortSignal,
): AsyncGenerator<SearchHit> {
  signal.throwIfAborted();
  const isFile = (await stat(request.target)).isFile();
  const folder = isFile ? dirname(request.target) : request.target;
  const target = isFile ? `./${basename(request.target)}` : './';
  const child = withStreams(
    spawn(program, toArguments(request, target), {
      argv0: 'rg', // for multi-call programs reached through a link, such as snap's
      cwd: folder,
      env: {},
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
  );
  const exited = new Promise<number | null>((resolve, reject) => child.on('error', reject).on('close', resolve));
  exited.catch(() => undefined); // awaited below, but it may reject earlier
  const kill = () => void child.kill('SIGKILL');
  signal.addEventListener('abort', kill, { once: true });
  try {
    const complaint = text(child.stderr);
    for await (const line of createInterface({ input: child.stdout })) {
      const hit = parseLine(line, folder);
      // With a glob, ripgrep also shows files that .gitignore ignores. That is not wanted here.
      if (hit && !(request.glob !== undefined && isIgnoredFile(hit.path, request.root))) yield hit;
    }
    const [code, problem] = await Promise.all([exited, complaint]);
    signal.throwIfAborted();
    // ripgrep also exits with 2 when some files could not be read, but then prints nothing.
    if (code === 2 && problem !== '') throw new ToolProblem(problem.trim());
  } finally {
    signal.removeEventListener('abort', kill);
    kill();
  }
}

function toArguments({ query, glob }: SearchRequest, target: string): string[] {
  return [
    ...['--no-config', '--color=never', '--no-heading', '--with-filename', '--line-number', '--null', '--no-messages'],
    ...['--hidden', '--no-require-git', '--no-follow'],
    ...['--max-columns=500', '--max-columns-preview', '--max-count=300', '--max-filesize=10M'],
    ...(glob === undefined ? [] : [`--glob=${glob}`]),
    '--glob=!.git',
    ...[`--regexp=${query}`, '--', target],
  ];
}

/** Parses `path NUL line:text`; other lines are remarks such as "binary file matches". */
function parseLine(line: string, folder: string): SearchHit | undefined {
  const [, path, number, found] = /^([^\0]+)\0(\d+):(.*)$/s.exec(line) ?? [];
  if (path === undefined || found === undefined) return undefined;
  return { path: join(folder, path), line: Number(number), text: found };
}
