import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { UsageError } from '../../start-error.ts';
import { readStdin } from './read-input.ts';

/** Swallows what readline echoes. */
const NOWHERE = () => new Writable({ write: (_chunk, _encoding, done) => done() });

/** Asks twice in a terminal, without showing what is typed. Otherwise the first line of stdin is the password. */
export async function readPassword(): Promise<string> {
  if (!process.stdin.isTTY) {
    const [line = ''] = (await readPiped()).split(/\r?\n/, 1);
    if (line === '') throw new UsageError('The password is missing: write it to stdin, or use a terminal.');
    return line;
  }
  const password = await ask('New password: ');
  if ((await ask('Again: ')) !== password) throw new UsageError('The two passwords differ; nothing was changed.');
  return password;
}

/** Asks once for a secret in a terminal, without showing it. Otherwise it is the first line of stdin. */
export async function readSecret(prompt: string): Promise<string> {
  const typed = process.stdin.isTTY ? await ask(prompt) : (await readPiped()).split(/\r?\n/, 1)[0];
  if (!typed?.trim()) throw new UsageError('The token is missing: write it to stdin, or use a terminal.');
  return typed.trim();
}

const readPiped = () => readStdin(64 * 1024);

async function ask(prompt: string): Promise<string> {
  const asking = new AbortController();
  const lines = createInterface({ input: process.stdin, output: NOWHERE(), terminal: true });
  lines.once('SIGINT', () => asking.abort());
  process.stderr.write(prompt);
  try {
    return await lines.question('', { signal: asking.signal });
  } catch (error) {
    // Also after Ctrl-D, which ends the question by itself.
    if (error instanceof Error && error.name === 'AbortError') throw new UsageError('Cancelled; nothing was changed.');
    throw error;
  } finally {
    lines.close();
    process.stderr.write('\n');
  }
}
