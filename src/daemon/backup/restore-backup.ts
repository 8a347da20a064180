import { createHash } from 'node:crypto';
import { createReadStream, type ReadStream } from 'node:fs';
import { mkdir, mkdtemp, open, readdir, rm, rmdir, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createGunzip } from 'node:zlib';
import { wordsOf } from '../../../protocol/words-of.ts';
import { lockHome } from '../../gateway/store/home-lock.ts';
import { MIGRATIONS } from '../../gateway/store/schema/migrations.ts';
import { versionAfter } from '../../gateway/store/schema/schema-version.ts';
import { isHome, openHomeFolder } from '../../home/home-folder.ts';
import { hasCode } from '../../home/private-file.ts';
import { syncFolder } from '../../home/replace-file.ts';
import { isStaged, STAGED } from '../../home/restore-journal.ts';
import { whyUnreadable } from '../../home/why-unreadable.ts';
import { InterruptedError, StartError } from '../../start-error.ts';
import { asStartError } from '../as-start-error.ts';
import { isDiskFull } from '../disk-full.ts';
import { forgetEpoch, inspectCopy } from './database-copy.ts';
import { DATABASE, filesBelow, isBackedUp } from './home-files.ts';
import { stampOf } from './make-backup.ts';
import {
  MANIFEST,
  type Manifest,
  type ManifestFile,
  MOST_MANIFEST_BYTES,
  parseManifest,
  requireSame,
} from './manifest.ts';
import { finishPutBack, NotPutBack, type PutBackDeps, putBack } from './put-back.ts';
import { type ArchivedFile, readArchive } from './read-archive.ts';
import { DamagedArchive } from './tar-entry.ts';

export interface RestoreOptions {
  archive: string;
  home: string;
  nowMs: number;
  /** Ends the restore while nothing has been moved; what it has unpacked is removed. */
  signal: AbortSignal;
}

export interface Restored {
  manifest: Manifest;
  /** The folder with the files that were there before; undefined if there were none. */
  aside: string | undefined;
}

/** Verifies an archive completely and changes nothing. */
export async function checkBackup({ archive, signal }: Pick<RestoreOptions, 'archive' | 'signal'>): Promise<Manifest> {
  const folder = await newFolder(path.join(tmpdir(), 'headgate-restore-'));
  try {
    return await unpackVerified({ archive, signal }, folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Replaces the files of a home by those of an archive, after verifying all of it. Refuses while a daemon uses the home. */
export async function restoreBackup(options: RestoreOptions, deps?: PutBackDeps): Promise<Restored> {
  const { home } = options;
  const before = await namesIn(home);
  if (before !== undefined && before.length > 0 && !isHome(before))
    throw new StartError(`${home} holds files that are not Headgate’s. Choose an empty folder with --home.`);
  await openHomeFolder(home);
  const lock = await asStartError(() => lockHome(home));
  try {
    await asStartError(() => finishPutBack(home));
    return await restoreInto(options, deps);
  } catch (error) {
    if (before === undefined) await rm(home, { recursive: true, force: true });
    throw error;
  } finally {
    lock.release();
  }
}

/** Undefined if there is no such folder yet. */
const namesIn = (folder: string): Promise<string[] | undefined> =>
  readdir(folder).catch((error: unknown) => {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw new StartError(`The home folder ${folder} cannot be used: ${whyUnreadable(error)}.`, { cause: error });
  });

async function restoreInto({ archive, home, nowMs, signal }: RestoreOptions, deps?: PutBackDeps): Promise<Restored> {
  const names = await readdir(home);
  for (const name of names.filter(isStaged)) await rm(path.join(home, name), { recursive: true, force: true }); // of a restore that was killed
  const staged = await newFolder(path.join(home, STAGED));
  try {
    const manifest = await unpackVerified({ archive, signal }, staged);
    forgetEpoch(path.join(staged, DATABASE));
    await syncAll(staged);
    if (signal.aborted) throw interrupted();
    const aside = `before-restore-${stampOf(nowMs)}`;
    if (names.includes(aside)) throw new StartError(`${path.join(home, aside)} exists already. Try again in a second.`);
    await putBack(home, { staged: path.basename(staged), aside }, deps);
    return { manifest, aside: (await isKept(path.join(home, aside), names)) ? path.join(home, aside) : undefined };
  } catch (error) {
    // The next start completes what could not be taken back, and needs the restored files for that.
    if (!(error instanceof NotPutBack) || error.isTakenBack) await rm(staged, { recursive: true, force: true });
    if (error instanceof NotPutBack) throw toPutBackError(home, error);
    throw error instanceof StartError ? error : toUnpackingError(home, error);
  }
}

/** Whether the folder of the former files holds some of these, besides what belongs to a database that is gone. Removes it if it is empty. */
const isKept = (folder: string, names: readonly string[]): Promise<boolean> =>
  rmdir(folder).then(
    () => false,
    () => names.some(isBackedUp),
  );

/** A folder whose name begins with `beginning`. */
const newFolder = (beginning: string): Promise<string> =>
  mkdtemp(beginning).catch((error: unknown) => {
    throw toUnpackingError(path.dirname(beginning), error);
  });

function toUnpackingError(folder: string, error: unknown): StartError {
  const why = isDiskFull(error) ? 'the disk is full' : whyUnreadable(error);
  return new StartError(`The backup could not be unpacked into ${folder}: ${why}. ${UNCHANGED}`, { cause: error });
}

function toPutBackError(home: string, error: NotPutBack): StartError {
  const why = isDiskFull(error) ? 'the disk is full' : error.message;
  const state = error.isTakenBack
    ? 'The former files are in place again. You can restore into an empty folder with --home.'
    : 'Remove the cause, then start the daemon or run headgate restore again, to finish it.';
  return new StartError(`The files of ${home} could not be replaced: ${why}. ${state}`, { cause: error });
}

/** Unpacks an archive into an empty folder. Throws StartError unless everything is as the backup wrote it. */
async function unpackVerified(
  { archive, signal }: Pick<RestoreOptions, 'archive' | 'signal'>,
  folder: string,
): Promise<Manifest> {
  try {
    const { manifest, files } = await unpack(createReadStream(archive, { signal }), folder);
    requireSame(manifest, files);
    const { schema } = inspectCopy(path.join(folder, DATABASE));
    if (schema.version !== manifest.schemaVersion)
      throw new DamagedArchive('its database is not the one of its manifest');
    const { version: newest } = versionAfter(MIGRATIONS);
    if (schema.usableFrom > newest)
      throw new StartError(
        `${archive} is from Headgate ${manifest.version}, which is newer (schema version ${schema.version}; ` +
          `this one knows versions up to ${newest}). Upgrade first. ${UNCHANGED}`,
      );
    return manifest;
  } catch (error) {
    if (signal.aborted) throw interrupted();
    throw error instanceof StartError ? error : toRefusal(archive, error);
  }
}

const UNCHANGED = 'Nothing was changed.';

const interrupted = () => new InterruptedError(`Interrupted. ${UNCHANGED}`);

function toRefusal(archive: string, error: unknown): StartError {
  if (isDiskFull(error))
    return new StartError(`The disk is full. Free some space and try again. ${UNCHANGED}`, { cause: error });
  const isOther = error instanceof Error && 'syscall' in error && !(error instanceof DamagedArchive);
  const why = isOther ? `cannot be restored: ${whyUnreadable(error)}` : `is not an intact backup: ${wordsOf(error)}`;
  return new StartError(`${archive} ${why}. ${UNCHANGED}`, { cause: error });
}

async function unpack(file: ReadStream, folder: string): Promise<{ manifest: Manifest; files: ManifestFile[] }> {
  const gunzip = createGunzip();
  file.on('error', (error) => gunzip.destroy(error));
  file.pipe(gunzip);
  const files: ManifestFile[] = [];
  let manifest: Manifest | undefined;
  for await (const entry of readArchive(gunzip)) {
    if (manifest !== undefined) throw new DamagedArchive(`${entry.name} follows its ${MANIFEST}`);
    if (entry.name === MANIFEST) manifest = await readManifest(entry);
    else files.push(await unpackFile(entry, folder));
  }
  if (manifest === undefined) throw new DamagedArchive(`its ${MANIFEST} is missing`);
  return { manifest, files };
}

async function readManifest({ bytes, content }: ArchivedFile): Promise<Manifest> {
  if (bytes > MOST_MANIFEST_BYTES) throw new DamagedArchive(`its ${MANIFEST} is too large`);
  const parts: Buffer[] = [];
  for await (const part of content) parts.push(part);
  return parseManifest(Buffer.concat(parts).toString('utf8'));
}

async function unpackFile(
  { name, bytes, mode, mtimeMs, content }: ArchivedFile,
  folder: string,
): Promise<ManifestFile> {
  requireSafe(name);
  const file = path.join(folder, name);
  const hash = createHash('sha256');
  try {
    await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
    await using handle = await open(file, 'wx', (mode & 0o100) | 0o600);
    for await (const part of content) {
      hash.update(part);
      await handle.writeFile(part);
    }
  } catch (error) {
    const isTwice = ['EEXIST', 'ENOTDIR', 'EISDIR'].some((code) => hasCode(error, code));
    throw isTwice ? new DamagedArchive(`${name} is in it twice`) : error;
  }
  await utimes(file, mtimeMs / 1000, mtimeMs / 1000);
  return { name, bytes, sha256: hash.digest('hex') };
}

/** Only names that a backup holds: below the home, without `..`. */
function requireSafe(name: string): void {
  const parts = name.split('/');
  const isSafe = parts.every((part) => part !== '' && part !== '.' && part !== '..' && !part.includes('\0'));
  if (!isSafe || !isBackedUp(parts[0] ?? ''))
    throw new DamagedArchive(`no backup holds a file ${JSON.stringify(name)}`);
}

async function syncAll(folder: string): Promise<void> {
  const files = await filesBelow(folder);
  const folders = new Set(files.map((file) => path.dirname(path.join(folder, file))));
  for (const file of files) {
    await using handle = await open(path.join(folder, file), 'r');
    await handle.sync();
  }
  for (const each of [...folders, folder]) await syncFolder(each);
}
