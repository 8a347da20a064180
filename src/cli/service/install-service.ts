import { execFile } from 'node:child_process';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { wordsOf } from '../../../protocol/words-of.ts';
import { hasCode } from '../../home/private-file.ts';
import { whyUnreadable } from '../../home/why-unreadable.ts';
import { NotFoundError, StartError } from '../../start-error.ts';
import { type Command, MARK, type ServiceManager, type ServicePlan } from './service.ts';

/** Runs a command; rejects with its words on stderr. */
export type RunCommand = (command: Command) => Promise<void>;

export const runCommand: RunCommand = async ([program, ...words]) => {
  await promisify(execFile)(program, words);
};

/** Writes the file of the service and starts it. Installing again updates the file and restarts it. */
export async function installService(
  { manager, plan }: { manager: ServiceManager; plan: ServicePlan },
  run: RunCommand,
): Promise<void> {
  const { file } = manager;
  await readOwn(file);
  const text = manager.toText(plan);
  const temporary = `${file}.tmp`;
  try {
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(temporary, text, { mode: 0o644 });
    await rename(temporary, file);
  } catch (cause) {
    throw new StartError(`${file} cannot be written: ${whyUnreadable(cause)}.`, { cause });
  }
  await unload(manager, { run, done: `${file} is written` });
  for (const command of manager.activate) await runOrSay(command, { run, done: `${file} is written` });
}

/** Stops the service and removes its file. The home stays. */
export async function uninstallService(manager: ServiceManager, run: RunCommand): Promise<void> {
  const { file } = manager;
  if ((await readOwn(file)) === undefined) throw new NotFoundError(`No service is installed: ${file} does not exist.`);
  await unload(manager, { run, done: `${file} is still there` });
  for (const command of manager.deactivate) await runOrSay(command, { run, done: `${file} is still there` });
  await rm(file);
  for (const command of manager.forget) await runOrSay(command, { run, done: `${file} is removed` });
}

export interface ServiceStatus {
  file: string;
  isInstalled: boolean;
  /** Whether the file is the one that `install` would write now; null if that is not known. */
  isCurrent: boolean | null;
  isRunning: boolean;
}

export async function readServiceStatus(
  { manager, plan }: { manager: ServiceManager; plan: ServicePlan | undefined },
  run: RunCommand,
): Promise<ServiceStatus> {
  const text = await readIfThere(manager.file);
  const isRunning = text !== undefined && (await succeeds(manager.probe, run));
  const isCurrent = plan === undefined ? null : text === manager.toText(plan);
  return { file: manager.file, isInstalled: text !== undefined, isCurrent, isRunning };
}

/** The text of our file; undefined if there is none. Throws for a file that somebody else wrote. */
async function readOwn(file: string): Promise<string | undefined> {
  const text = await readIfThere(file);
  if (text !== undefined && !text.slice(0, 300).includes(MARK))
    throw new StartError(`${file} was not written by this command. Move it away first.`);
  return text;
}

async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    if (hasCode(cause, 'ENOENT')) return undefined;
    throw new StartError(`${file} cannot be read: ${whyUnreadable(cause)}.`, { cause });
  }
}

/** A failure counts only while the service is still known: otherwise there was nothing to unload. */
async function unload(manager: ServiceManager, { run, done }: { run: RunCommand; done: string }): Promise<void> {
  for (const command of manager.unload) {
    try {
      await runOrSay(command, { run, done });
    } catch (error) {
      if (await succeeds(manager.probe, run)) throw error;
    }
  }
}

const succeeds = (command: Command, run: RunCommand): Promise<boolean> =>
  run(command).then(
    () => true,
    () => false, // it does not run, or there is no service manager
  );

async function runOrSay(command: Command, { run, done }: { run: RunCommand; done: string }): Promise<void> {
  try {
    await run(command);
  } catch (cause) {
    const why = hasCode(cause, 'ENOENT') ? `${command[0]} is not installed` : lastLine(wordsOf(cause));
    throw new StartError(`${done}, but ${command.join(' ')} failed: ${why}`, { cause });
  }
}

const lastLine = (text: string): string => text.trim().split('\n').at(-1) ?? '';
