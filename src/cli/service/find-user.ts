import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { hasCode } from '../../home/private-file.ts';
import { StartError, UsageError } from '../../start-error.ts';
import type { Command } from './service.ts';

export interface User {
  name: string;
  userHome: string;
}

/** Runs a command; resolves to its output. */
type AskCommand = (command: Command) => Promise<string>;

const askCommand: AskCommand = async ([program, ...words]) => (await promisify(execFile)(program, words)).stdout;

/** An account of the operating system, from whatever directory it uses. Throws UsageError if there is none. */
export async function findUser(name: string, platform: NodeJS.Platform, ask = askCommand): Promise<User> {
  const isMac = platform === 'darwin';
  const line = await askFor(name, isMac ? ['id', '-P', '--', name] : ['getent', 'passwd', '--', name], ask);
  const fields = line.trim().split(':');
  const userHome = fields[isMac ? 8 : 5]; // macOS adds class, change and expiry before the full name
  if (fields[0] !== name || !userHome?.startsWith('/')) throw noUser(name);
  return { name, userHome };
}

async function askFor(name: string, command: Command, ask: AskCommand): Promise<string> {
  try {
    return await ask(command);
  } catch (cause) {
    if (hasCode(cause, 'ENOENT')) throw new StartError(`${command[0]} is not installed.`, { cause });
    throw noUser(name, cause);
  }
}

const noUser = (name: string, cause?: unknown) =>
  new UsageError(`This machine has no user ${JSON.stringify(name)}.`, { cause });
