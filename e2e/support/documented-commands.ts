import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The commands that docs/operating.md shows under this heading, block by block. */
export async function commandsUnder(heading: string): Promise<string[]> {
  const page = await readFile(new URL('../../docs/operating.md', import.meta.url), 'utf8');
  const [, section = ''] = page.split(`## ${heading}\n`);
  return [...(section.split('\n## ')[0] ?? '').matchAll(/```sh\n(.*?)```/gs)].map(([, block = '']) => block);
}

/** Runs them as if pasted into a shell that stops at the first failure. */
export const paste = (block: string, { home, cwd }: { home: string; cwd: string }) =>
  run('/bin/sh', ['-euc', block], { cwd, env: { PATH: process.env.PATH, HOME: home } });
