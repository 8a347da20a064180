import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { MANIFEST, type Manifest, type ManifestFile, toManifestText } from './manifest.ts';
import { BLOCK, paddingOf, toHeader } from './tar-entry.ts';

/** A file to archive: its name there, and its path or its text. */
export type Source = { name: string } & ({ file: string } | { text: string });

export interface ArchiveContents {
  sources: readonly Source[];
  describe(files: ManifestFile[]): Manifest;
  nowMs: number;
  /** Ends the writing with an error. */
  signal: AbortSignal;
}

/** Writes an archive into `handle`, synced. Returns its digest and size. */
export async function writeArchive(
  handle: FileHandle,
  contents: ArchiveContents,
): Promise<{ sha256: string; bytes: number }> {
  const hash = createHash('sha256');
  let bytes = 0;
  const write = async (chunks: AsyncIterable<Buffer>) => {
    for await (const chunk of chunks) {
      hash.update(chunk);
      bytes += chunk.length;
      await handle.writeFile(chunk);
    }
  };
  await pipeline(toTar(contents), createGzip(), write, { signal: contents.signal });
  await handle.sync();
  return { sha256: hash.digest('hex'), bytes };
}

async function* toTar({ sources, describe, nowMs }: ArchiveContents): AsyncGenerator<Buffer> {
  const files: ManifestFile[] = [];
  for (const source of sources) {
    if ('text' in source) yield* ofText(source, { nowMs, files });
    else yield* ofFile(source, files);
  }
  yield* ofText({ name: MANIFEST, text: toManifestText(describe(files)) }, { nowMs, files: [] });
  yield Buffer.alloc(2 * BLOCK);
}

function* ofText(
  { name, text }: { name: string; text: string },
  { nowMs, files }: { nowMs: number; files: ManifestFile[] },
): Generator<Buffer> {
  const content = Buffer.from(text);
  yield toHeader({ name, bytes: content.length, mode: 0o600, mtimeMs: nowMs });
  yield content;
  yield paddingOf(content.length);
  files.push({ name, bytes: content.length, sha256: createHash('sha256').update(content).digest('hex') });
}

async function* ofFile({ name, file }: { name: string; file: string }, files: ManifestFile[]): AsyncGenerator<Buffer> {
  await using handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW);
  const { size: bytes, mode, mtimeMs } = await handle.stat();
  yield toHeader({ name, bytes, mode: mode & 0o700, mtimeMs });
  const hash = createHash('sha256');
  let missing = bytes; // a file that grows is archived as it was
  if (bytes > 0) {
    for await (const chunk of handle.createReadStream({ start: 0, end: bytes - 1, autoClose: false })) {
      hash.update(chunk);
      missing -= chunk.length;
      yield chunk;
    }
  }
  if (missing !== 0) throw new Error(`${name} became shorter while it was read`);
  yield paddingOf(bytes);
  files.push({ name, bytes, sha256: hash.digest('hex') });
}
