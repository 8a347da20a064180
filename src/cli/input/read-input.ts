import { createReadStream } from 'node:fs';
import path from 'node:path';
import { whyUnreadable } from '../../home/why-unreadable.ts';
import { UsageError } from '../../start-error.ts';

interface Wanted {
  cwd: string;
  maxBytes: number;
  /** What messages call the file. Default: its name. */
  shown?: string;
}

/** The text of a file, or of stdin for `-`. Throws UsageError if it cannot be read or is larger than `maxBytes`, as `/dev/zero` is. */
export const readInput = (name: string, { cwd, maxBytes }: Wanted): Promise<string> =>
  name === '-' ? readStdin(maxBytes) : readFileAt(name, { cwd, maxBytes });

/** Like `readInput`, only for files. */
export const readFileAt = (name: string, { cwd, maxBytes, shown = name }: Wanted): Promise<string> =>
  readUpTo(maxBytes, createReadStream(path.resolve(cwd, name)), shown);

/** Like `readInput`, only for stdin. */
export const readStdin = (maxBytes: number): Promise<string> => readUpTo(maxBytes, process.stdin, 'The standard input');

async function readUpTo(maxBytes: number, source: AsyncIterable<Buffer>, shown: string): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const part of source) {
      bytes += part.length;
      if (bytes > maxBytes) break;
      parts.push(part);
    }
  } catch (cause) {
    throw new UsageError(`${shown} cannot be read: ${whyUnreadable(cause)}`, { cause });
  }
  if (bytes > maxBytes) throw new UsageError(`${shown} is too large: at most ${toSize(maxBytes)} are read.`);
  return new TextDecoder().decode(Buffer.concat(parts));
}

const MIB = 1024 * 1024;

const toSize = (bytes: number): string => (bytes < MIB ? `${bytes / 1024} KiB` : `${bytes / MIB} MiB`);
