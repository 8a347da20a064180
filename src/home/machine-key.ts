import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { link, open, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Environment } from '../environment.ts';
import type { Ids } from '../ids.ts';
import { hasCode, readPrivateFile } from './private-file.ts';
import { syncFolder } from './replace-file.ts';
import { whyUnreadable } from './why-unreadable.ts';

/** The name of the file in the home, and of the systemd credential. */
const NAME = 'headgate-key';
const KEY = /^hgk_[0-9a-f]{64}$/;
const KEY_BYTES = 32;

/** A key as its file has it. */
export const toKeyText = ({ bytes }: Pick<MachineKey, 'bytes'>): string => `hgk_${bytes.toString('hex')}`;

/** A key of this machine. It encrypts the key of the store, which encrypts the secrets in the database. */
export interface MachineKey {
  /** Identifies the key without revealing it. */
  id: string;
  bytes: Buffer;
  /** Where it was read. */
  path: string;
  /**
   * `credential`: of systemd; `former`: the credential before it; `file`: of the home; `next` and `before`: left by a
   * rotation that was interrupted.
   */
  place: 'credential' | 'former' | 'file' | 'next' | 'before';
}

/** The key's file in the home. */
export const machineKeyPath = (home: string) => path.join(home, NAME);
const nextPath = (home: string) => `${machineKeyPath(home)}.new`;
const beforePath = (home: string) => `${machineKeyPath(home)}.old`;

/** The credential of systemd, if this process has a folder of credentials. */
function credentialPath(environment: Environment): string | undefined {
  const folder = environment.CREDENTIALS_DIRECTORY;
  return folder === undefined || folder === '' ? undefined : path.join(folder, NAME);
}

/** The key's files, and the steps by which a rotation replaces them. Each step is durable when it resolves. */
export interface MachineKeyFiles {
  /**
   * All keys of this machine, the one to use first. Throws, without changing anything, for a file that others can read
   * or that holds no key.
   */
  read(): Promise<MachineKey[]>;
  /** Creates the key of the home. If another process is first, returns the key of that one. */
  create(): Promise<MachineKey>;
  /** The first step of a rotation: stores a new key beside the one that is in use. */
  stage(): Promise<MachineKey>;
  /** The step after the database has the staged key. The key before it is kept until `forget`. */
  adopt(): Promise<void>;
  /** Takes back a rotation whose change of the database was lost. */
  restore(): Promise<void>;
  /** Removes what a rotation left behind; the key of the file stays. */
  forget(): Promise<void>;
}

/** `home` exists. */
export const machineKeyFiles = (home: string, environment: Environment, ids: Pick<Ids, 'secret'>): MachineKeyFiles => ({
  read: () => readMachineKeys(home, environment),
  create: () => createMachineKey(home, ids),
  stage: () => stageMachineKey(home, ids),
  adopt: () => adoptStagedKey(home),
  restore: () => restoreFormerKey(home),
  forget: () => forgetFormerKeys(home),
});

/** All keys of this machine, the one to use first. */
export async function readMachineKeys(home: string, environment: Environment): Promise<MachineKey[]> {
  const credential = credentialPath(environment);
  const files: [MachineKey['place'], string, (file: string) => Promise<string | undefined>][] = [
    ['file', machineKeyPath(home), readPrivateFile],
    ['next', nextPath(home), readPrivateFile],
    ['before', beforePath(home), readPrivateFile],
  ];
  if (credential !== undefined)
    files.unshift(['credential', credential, readCredential], ['former', `${credential}-former`, readCredential]);
  const keys: MachineKey[] = [];
  for (const [place, file, read] of files) {
    const text = await read(file);
    // A kill may leave an empty file of a rotation that has not begun.
    if (text === undefined || (place === 'next' && !KEY.test(text.trim()))) continue;
    keys.push(toMachineKey(text, { place, path: file }));
  }
  // The former credential is for moving to a new one; by itself it is a mistake.
  return keys.some(({ place }) => place === 'credential') ? keys : keys.filter(({ place }) => place !== 'former');
}

async function createMachineKey(home: string, ids: Pick<Ids, 'secret'>): Promise<MachineKey> {
  const file = machineKeyPath(home);
  const temporary = `${file}.${ids.secret(8)}.tmp`;
  try {
    await writeFile(temporary, toText(ids), { flag: 'wx', mode: 0o600, flush: true });
    await link(temporary, file);
    await syncFolder(home);
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
  } finally {
    await rm(temporary, { force: true });
  }
  const text = await readPrivateFile(file);
  if (text === undefined) throw new Error(`${file} disappeared while it was created`);
  return toMachineKey(text, { place: 'file', path: file });
}

async function stageMachineKey(home: string, ids: Pick<Ids, 'secret'>): Promise<MachineKey> {
  const file = nextPath(home);
  await rm(file, { force: true });
  const text = toText(ids);
  await writeFile(file, text, { flag: 'wx', mode: 0o600, flush: true });
  await syncFolder(home);
  return toMachineKey(text, { place: 'next', path: file });
}

async function adoptStagedKey(home: string): Promise<void> {
  await rm(beforePath(home), { force: true });
  await link(machineKeyPath(home), beforePath(home)).catch((error: unknown) => {
    if (!hasCode(error, 'ENOENT')) throw error; // somebody removed it: there is nothing to keep
  });
  await rename(nextPath(home), machineKeyPath(home));
  await syncFolder(home);
}

async function restoreFormerKey(home: string): Promise<void> {
  await rename(beforePath(home), machineKeyPath(home));
  await syncFolder(home);
}

async function forgetFormerKeys(home: string): Promise<void> {
  await Promise.all([nextPath(home), beforePath(home)].map((file) => rm(file, { force: true })));
}

/** A file of this name that systemd wrote may have an access list, which looks like rights of its group. */
async function readCredential(file: string): Promise<string | undefined> {
  const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK).catch((error: unknown) => {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw new Error(`The credential ${file} cannot be read: ${whyUnreadable(error)}`, { cause: error });
  });
  if (handle === undefined) return undefined;
  try {
    const { mode, uid } = await handle.stat();
    const forbidden = uid === 0 ? 0o037 : 0o077;
    if ((mode & forbidden) !== 0) {
      const bits = (mode & 0o777).toString(8);
      throw new Error(`The credential ${file} can be read by other users (mode ${bits}). Let systemd create it.`);
    }
    return await handle.readFile('utf8');
  } finally {
    await handle.close();
  }
}

const toText = (ids: Pick<Ids, 'secret'>): string => `hgk_${ids.secret(KEY_BYTES)}\n`;

function toMachineKey(text: string, where: Pick<MachineKey, 'place' | 'path'>): MachineKey {
  const key = text.trim();
  if (!KEY.test(key))
    throw new Error(
      `${where.path} does not hold a key of Headgate (hgk_ and 64 hexadecimal digits). Restore it from a backup. The file was not changed.`,
    );
  const bytes = Buffer.from(key.slice(4), 'hex');
  const id = createHash('sha256').update('headgate machine key\n').update(bytes).digest('hex').slice(0, 12);
  return { id, bytes, place: where.place, path: where.path };
}
