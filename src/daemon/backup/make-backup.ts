import { link, lstat, mkdir, mkdtemp, open, readdir, realpath, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { wordsOf } from '../../../protocol/words-of.ts';
import { isInside } from '../../agent/tools/files/confinement.ts';
import type { Environment } from '../../environment.ts';
import { isHomeLocked } from '../../gateway/store/home-lock.ts';
import { readMachineKeys, toKeyText } from '../../home/machine-key.ts';
import { hasCode } from '../../home/private-file.ts';
import { syncFolder } from '../../home/replace-file.ts';
import { whyUnreadable } from '../../home/why-unreadable.ts';
import { InterruptedError, StartError } from '../../start-error.ts';
import { asStartError } from '../as-start-error.ts';
import { loadConfig } from '../config/config.ts';
import { storeUrlOf } from '../config/options.ts';
import { isDiskFull } from '../disk-full.ts';
import { copyOnline, type DatabaseFacts, inspectCopy } from './database-copy.ts';
import { BACKUPS, DATABASE, filesBelow, isUnlinkable, linkHome } from './home-files.ts';
import { toManifest } from './manifest.ts';
import { isInterrupted } from './put-back.ts';
import { type Source, writeArchive } from './write-archive.ts';

export interface BackupOptions {
  home: string;
  environment: Environment;
  /** A new file, or an existing folder, in which the name tells the time; undefined: the folder `backups` of the home. */
  target: string | undefined;
  version: string;
  nowMs: number;
  /** Ends the backup; what it has written is removed. */
  signal: AbortSignal;
}

export interface Backup {
  file: string;
  bytes: number;
  sha256: string;
  files: number;
  schemaVersion: number;
  /** The key that the secrets in the database need, and whether it is in the archive. */
  machineKey: { id: string; included: boolean } | null;
  /** What is neither a file nor a folder, such as links, and what has a name that is reserved or not UTF-8. */
  leftOut: string[];
}

/** Backs a home up while a daemon may be using it. The archive gets its name when it is complete; no file is replaced. */
export async function makeBackup(options: BackupOptions): Promise<Backup> {
  const { home, environment, target, nowMs, signal } = options;
  await requireDatabase(home, environment);
  const file = await toFileName(target ?? (await openBackups(home)), nowMs);
  await requireUnreadable(file, home);
  const folders: string[] = [];
  try {
    const beside = await folderBeside(file, nowMs);
    folders.push(beside);
    const linked = await folderInHome(home);
    folders.push(linked);
    return await backUp(options, { file, beside, linked });
  } catch (error) {
    if (signal.aborted) throw new InterruptedError('The backup was interrupted. No archive was written.');
    if (error instanceof StartError) throw error;
    const why = isDiskFull(error) ? 'the disk is full' : wordsOf(error);
    throw new StartError(`${home} could not be backed up: ${why}. No archive was written.`, { cause: error });
  } finally {
    for (const folder of folders) await rm(folder, { recursive: true, force: true });
  }
}

async function requireDatabase(home: string, environment: Environment): Promise<void> {
  const config = await loadConfig(home).then(
    (loaded) => loaded.config,
    () => ({ store: {} }), // a home whose settings are broken is backed up, too
  );
  if (storeUrlOf(config, environment) !== undefined)
    throw new StartError(
      'The data is in the PostgreSQL database of store.url. Back it up with pg_dump, which contains the files of messages, and copy the home folder, too: it holds the keys and the snapshots for undo.',
    );
  if (await isInterrupted(home))
    throw new StartError(
      `A restore of ${home} was interrupted. Start the daemon, or run headgate restore again, to finish it.`,
    );
  await stat(path.join(home, DATABASE)).catch((cause: unknown) => {
    throw new StartError(`There is nothing to back up: ${path.join(home, DATABASE)}: ${whyUnreadable(cause)}.`, {
      cause,
    });
  });
}

async function openBackups(home: string): Promise<string> {
  const folder = path.join(home, BACKUPS);
  await asStartError(() => mkdir(folder, { recursive: true, mode: 0o700 }));
  return folder;
}

/**
 * Elsewhere in the home, such as in `workspace/`, an archive could be read by the commands of the agent, or it would be in each
 * later backup.
 */
async function requireUnreadable(file: string, home: string): Promise<void> {
  const folder = await realpath(path.dirname(file)).catch(() => undefined); // reported when it is used
  const realHome = await realpath(home);
  if (folder === undefined || !isInside(realHome, folder) || isInside(path.join(realHome, BACKUPS), folder)) return;
  throw new StartError(
    `${path.dirname(file)} is in the home folder. Leave out the target, for ${path.join(home, BACKUPS)}, or name a folder outside.`,
  );
}

async function toFileName(target: string, nowMs: number): Promise<string> {
  const isFolder = await stat(target).then(
    (found) => found.isDirectory(),
    () => false, // it does not exist, or its folder cannot be entered, which is reported when it is used
  );
  const file = isFolder ? path.join(target, `headgate-backup-${stampOf(nowMs)}.tar.gz`) : target;
  const exists = await stat(file).then(
    () => true,
    () => false,
  );
  if (exists) throw alreadyThere(file);
  return file;
}

/** Such as `20261127-234500`, in UTC. */
export const stampOf = (ms: number): string =>
  new Date(ms).toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-');

const alreadyThere = (file: string) => new StartError(`${file} exists already. Choose another name.`);

/** A folder for the copy of the database. Removes those of backups that were killed, each of which holds such a copy. */
async function folderBeside(file: string, nowMs: number): Promise<string> {
  const folder = path.dirname(file);
  const names = await readdir(folder).catch(() => []); // perhaps it can only be written to
  for (const name of names.filter((each) => BESIDE.test(each)))
    if (await isAbandoned(path.join(folder, name), nowMs))
      await rm(path.join(folder, name), { recursive: true, force: true }).catch(() => undefined); // the next one tries again
  try {
    return await mkdtemp(path.join(folder, '.headgate-backup-'));
  } catch (cause) {
    throw new StartError(`Nothing can be written to ${folder}: ${whyUnreadable(cause)}.`, { cause });
  }
}

const BESIDE = /^\.headgate-backup-\w{6}$/;
const ABANDONED_MS = 24 * 60 * 60_000;

/** By its age, because other machines may write their backups into the same folder; and only what is this user's. */
async function isAbandoned(folder: string, nowMs: number): Promise<boolean> {
  const found = await lstat(folder).catch(() => undefined); // its backup has just ended
  return found?.isDirectory() === true && found.uid === process.getuid?.() && nowMs - found.mtimeMs > ABANDONED_MS;
}

const LINKED = /^\.backup-(\d+)$/;

/** A folder for links. Removes those of backups that were killed. */
async function folderInHome(home: string): Promise<string> {
  for (const name of await readdir(home)) {
    const [, pid] = LINKED.exec(name) ?? [];
    if (pid !== undefined && !isRunning(Number(pid))) await rm(path.join(home, name), { recursive: true, force: true });
  }
  const folder = path.join(home, `.backup-${process.pid}`);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { mode: 0o700 });
  return folder;
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return pid !== process.pid;
  } catch (error) {
    return hasCode(error, 'EPERM');
  }
}

interface Places {
  file: string;
  /** A temporary folder next to the archive. */
  beside: string;
  /** A temporary folder in the home. */
  linked: string;
}

async function backUp(
  { home, version, nowMs, signal }: BackupOptions,
  { file, beside, linked }: Places,
): Promise<Backup> {
  const copy = path.join(beside, DATABASE);
  const keysBefore = await readMachineKeys(home, {});
  // Before the database: a signed end of the audit trail that is newer than the records looks as if some were removed. And
  // again after it, for files to which the newest rows refer.
  await linkHome(home, linked);
  await copyOnline(path.join(home, DATABASE), copy);
  const leftOut = await linkHome(home, linked);
  signal.throwIfAborted();
  const facts = inspectCopy(copy);
  if (facts.isClosed && isHomeLocked(home)) throw elsewhere(home);
  const keys = [...keysBefore, ...(await readMachineKeys(home, {}))];
  const key = facts.machineKeyId === undefined ? keys[0] : keys.find(({ id }) => id === facts.machineKeyId);
  const machineKey = toMachineKey(facts, key?.id);
  const sources: Source[] = [
    { name: DATABASE, file: copy },
    ...(key === undefined ? [] : [{ name: 'headgate-key', text: `${toKeyText(key)}\n` }]),
    ...(await filesBelow(linked)).map((name) => ({ name, file: path.join(linked, name) })),
  ];
  const partial = path.join(beside, 'archive.tar.gz');
  const { version: schemaVersion } = facts.schema;
  const createdAt = new Date(nowMs).toISOString();
  await using handle = await open(partial, 'wx', 0o600);
  const written = await writeArchive(handle, {
    sources,
    describe: (files) => toManifest({ version, createdAt, schemaVersion, machineKey, files }),
    nowMs,
    signal,
  });
  await giveName(partial, file);
  return { file, ...written, files: sources.length, schemaVersion, machineKey, leftOut };
}

/** The daemon has another address of its store than this shell, such as the one in its service. The file is from before. */
const elsewhere = (home: string) =>
  new StartError(
    `A daemon uses ${home}, but it does not use ${path.join(home, DATABASE)}, so its data is in a PostgreSQL database. ` +
      'Back that up with pg_dump, and copy the home folder, too. If the daemon is only starting or stopping, try again.',
  );

function toMachineKey({ machineKeyId }: DatabaseFacts, included: string | undefined): Backup['machineKey'] {
  const id = machineKeyId ?? included;
  return id === undefined ? null : { id, included: included !== undefined };
}

/** Never replaces a file, not even one that was created in the meantime. */
async function giveName(partial: string, file: string): Promise<void> {
  try {
    await link(partial, file);
  } catch (error) {
    if (hasCode(error, 'EEXIST')) throw alreadyThere(file);
    if (!isUnlinkable(error)) throw error;
    await rename(partial, file);
  }
  await syncFolder(path.dirname(file));
}
