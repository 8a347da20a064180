import { constants } from 'node:fs';
import { mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { GatewayError } from '../../../protocol/errors.ts';
import { hasCode } from '../../home/private-file.ts';
import { isId, requireId } from './attachment-id.ts';

/** A file that is read from its beginning. */
export interface OpenedFile extends AsyncDisposable {
  /** Closes the file at its end. It fails if the bytes are found to be others than were stored. */
  createReadStream(): Readable;
  readFile(): Promise<Buffer>;
}

/** The bytes of attachments, by the attachment's id. */
export interface AttachmentFiles {
  /**
   * Stores what `bytes` yields; it is synced when this resolves. Rejects with the error of `bytes` or with UNAVAILABLE,
   * and then leaves no file that can be opened.
   */
  write(id: string, bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<void>;
  /** Opens for reading; undefined when the file is gone or no longer has `size` bytes. The caller closes it. */
  open(id: string, size: number): Promise<OpenedFile | undefined>;
  remove(id: string): Promise<void>;
  /** Ids of the files, complete or not, among which those without a row are looked for. */
  list(): Promise<string[]>;
}

const PART = '.part';

/** One file each, mode 0600, in a folder of the home, named by the attachment's id and perhaps an ending. */
export function createAttachmentFiles(folder: string, { ending = '' } = {}): AttachmentFiles {
  const placeOf = (id: string) => path.join(folder, `${requireId(id)}${ending}`);
  // A symbolic link could lead out of the folder.
  const openFile = async (id: string) => {
    try {
      return await open(placeOf(id), constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
    } catch (error) {
      if (hasCode(error, 'ENOENT') || hasCode(error, 'ELOOP')) return undefined;
      throw error;
    }
  };
  return {
    async write(id, bytes) {
      const whole = placeOf(id);
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const part = `${whole}${PART}`;
      try {
        await writeSynced(part, bytes);
        await rename(part, whole);
      } catch (error) {
        await rm(part, { force: true });
        throw hasCode(error, 'ENOSPC') || hasCode(error, 'EDQUOT') ? noRoom(error) : error;
      }
    },
    async open(id, size) {
      const file = await openFile(id);
      if (!file) return undefined;
      const found = await file.stat();
      if (found.isFile() && found.size === size) return file;
      await file.close();
      return undefined;
    },
    async remove(id) {
      await rm(placeOf(id), { force: true });
      await rm(`${placeOf(id)}${PART}`, { force: true });
    },
    async list() {
      try {
        const names = (await readdir(folder)).map((name) => withoutEnd(name, PART));
        // Other files, such as those of a file manager, are not ours.
        return names
          .filter((name) => name.endsWith(ending))
          .map((name) => withoutEnd(name, ending))
          .filter(isId);
      } catch (error) {
        if (hasCode(error, 'ENOENT')) return []; // the folder is created with the first attachment
        throw error;
      }
    },
  };
}

const withoutEnd = (name: string, end: string): string =>
  name.endsWith(end) ? name.slice(0, name.length - end.length) : name;

const noRoom = (cause: unknown) => new GatewayError('UNAVAILABLE', 'The disk has no room for the file', { cause });

async function writeSynced(file: string, bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<void> {
  await using handle = await open(file, 'wx', 0o600);
  for await (const chunk of bytes) await handle.writeFile(chunk);
  await handle.sync();
}
