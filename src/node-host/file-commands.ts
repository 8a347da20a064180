import { Buffer, isUtf8 } from 'node:buffer';
import { z } from 'zod';
import { openConfined, readVersion } from '../agent/tools/files/confined-file.ts';
import type { AllowedPlace } from '../agent/tools/files/confinement.ts';
import { replaceFile } from '../agent/tools/files/staged-file.ts';
import { ToolProblem } from '../agent/tools/tool-problem.ts';
import type { Folders } from './folders.ts';
import { CommandProblem, type LentCommand } from './lent-command.ts';

const MAX_BYTES = 512 * 1024;
const PathText = z.string().min(1).max(4_096);

const FileReadParams = z.strictObject({
  path: PathText,
  offset: z.int().min(0).default(0),
  maxBytes: z.int().min(1).max(MAX_BYTES).default(MAX_BYTES),
});
type FileReadParams = z.infer<typeof FileReadParams>;

/** Reads a part of a file: as text if it is UTF-8, otherwise as base64. */
export const createFileRead = (folders: Folders): LentCommand<FileReadParams> => ({
  name: 'file.read',
  params: FileReadParams,
  run: ({ path, offset, maxBytes }) =>
    inPlace(folders, path, async (place) => {
      if (!place.exists) throw new CommandProblem('NOT_FOUND', `${place.shown}: no such file`);
      const { handle, stats } = await openConfined(place);
      try {
        const buffer = Buffer.alloc(Math.min(maxBytes, Math.max(0, stats.size - offset)));
        const { bytesRead } = await handle.read(buffer, 0, buffer.length, offset);
        const bytes = buffer.subarray(0, bytesRead);
        const encoding = isUtf8(bytes) ? 'utf8' : 'base64';
        const isWhole = offset === 0 && bytesRead >= stats.size;
        return { path: place.path, size: stats.size, offset, encoding, content: bytes.toString(encoding), isWhole };
      } finally {
        await handle.close();
      }
    }),
});

const FileWriteParams = z.strictObject({ path: PathText, content: z.string().max(MAX_BYTES) });
type FileWriteParams = z.infer<typeof FileWriteParams>;

/** Creates a text file or replaces it atomically. */
export const createFileWrite = (folders: Folders): LentCommand<FileWriteParams> => ({
  name: 'file.write',
  params: FileWriteParams,
  run: ({ path, content }) =>
    inPlace(folders, path, async (place) => {
      const old = await readVersion(place);
      const remark = await replaceFile(place, { text: content, old });
      const size = Buffer.byteLength(content);
      return { path: place.path, size, created: old === undefined, ...(remark && { remark }) };
    }),
});

async function inPlace<T>(folders: Folders, path: string, work: (place: AllowedPlace) => Promise<T>): Promise<T> {
  const place = await folders.locate(path);
  try {
    return await work(place);
  } catch (error) {
    if (error instanceof ToolProblem) throw new CommandProblem('UNAVAILABLE', error.message);
    throw error;
  }
}
