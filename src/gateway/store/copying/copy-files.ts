import { createHash, type Hash } from 'node:crypto';
import { DamagedRow } from '../row-checksum.ts';
import type { CopiedTable } from './copied-tables.ts';
import { type Cells, type CopyOptions, keyOf } from './copy-side.ts';
import type { CopiedFile, FilePlace } from './files-of-side.ts';

export interface FileCounts {
  files: number;
  bytes: number;
  /** They were gone or damaged in the source. */
  missing: number;
}

/**
 * Copies the files of messages and the long outputs of tools. A file that is there already is compared, and each one that was
 * written is read again, so the next call continues a copy that was stopped.
 */
export async function copyFiles(options: CopyOptions, attachments: CopiedTable): Promise<FileCounts> {
  const { source, target, signal, onProgress } = options;
  const counts: FileCounts = { files: 0, bytes: 0, missing: 0 };
  const outputs = await source.files.outputs.list();
  const total = (await source.count(attachments)) + outputs.length;
  let rows = 0;
  const bring = async (kind: 'attachments' | 'outputs', file: CopiedFile) => {
    signal.throwIfAborted();
    onProgress({ phase: 'files', table: kind, rows, total });
    rows += 1;
    const isThere = await copyFile({ from: source.files[kind], to: target.files[kind] }, file);
    counts.missing += isThere ? 0 : 1;
    counts.files += isThere ? 1 : 0;
    counts.bytes += isThere ? file.size : 0;
  };
  for await (const file of attachmentsOf(options, attachments)) await bring('attachments', file);
  for (const file of outputs) await bring('outputs', file);
  return counts;
}

/** Each file once, although the rows of several workstreams may name it. */
async function* attachmentsOf({ source }: CopyOptions, table: CopiedTable): AsyncGenerator<CopiedFile> {
  const place = (name: string) => table.columns.findIndex((column) => column.name === name);
  const [idPlace, sizePlace] = [place('attachment_id'), place('size_bytes')];
  const seen = new Set<string>();
  let after: Cells | undefined;
  for (;;) {
    const { rows } = await source.read(table, after);
    const last = rows.at(-1);
    if (last === undefined) return;
    for (const row of rows) {
      const id = String(row[idPlace]);
      if (!seen.has(id)) yield { id, size: Number(row[sizePlace]) };
      seen.add(id);
    }
    after = keyOf(table, last);
  }
}

interface Places {
  from: FilePlace;
  to: FilePlace;
}

/** Whether the target has the file now. */
async function copyFile({ from, to }: Places, { id, size }: CopiedFile): Promise<boolean> {
  const found = await digestOf(to, { id, size });
  if (found !== undefined && [found, undefined].includes(await digestOf(from, { id, size }))) return true;
  await using opened = await from.open(id, size);
  if (!opened) return false;
  await to.remove(id);
  const hash = createHash('sha256');
  try {
    await to.write(id, hashing(opened.createReadStream(), hash));
  } catch (error) {
    if (error instanceof DamagedRow) return false;
    throw error;
  }
  if ((await digestOf(to, { id, size })) === hash.digest('hex')) return true;
  throw new Error(`the file ${id} is not the same after it was copied`);
}

/** Undefined for a file that is gone or damaged. */
async function digestOf(place: FilePlace, { id, size }: CopiedFile): Promise<string | undefined> {
  await using opened = await place.open(id, size);
  if (!opened) return undefined;
  const hash = createHash('sha256');
  try {
    for await (const piece of opened.createReadStream()) hash.update(piece);
  } catch (error) {
    if (error instanceof DamagedRow) return undefined;
    throw error;
  }
  return hash.digest('hex');
}

async function* hashing(bytes: AsyncIterable<Uint8Array>, hash: Hash): AsyncGenerator<Uint8Array> {
  for await (const piece of bytes) {
    hash.update(piece);
    yield piece;
  }
}
