import { closeSync, existsSync, fsyncSync, openSync, readSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Connection } from '../sqlite/sqlite-connection.ts';

/**
 * Copies the database to `name`, or to the first of `<name>-2`, `<name>-3` … that is free, and returns the path. If one of
 * these is already the same copy, returns its path instead, so that repeated attempts do not fill the disk. Only a complete
 * copy that is on disk gets such a name, because someone may have to go back to it. A kill leaves `<name>.partial`, which
 * the next copy replaces.
 */
export function copyDatabase(connection: Connection, name: string): string {
  const partial = `${name}.partial`;
  for (const leftover of [partial, `${partial}-journal`]) rmSync(leftover, { force: true });
  closeSync(openSync(partial, 'wx', 0o600));
  connection.run('vacuum into ?', [partial]);
  sync(partial);
  let copy = name;
  for (let n = 2; existsSync(copy); n += 1) {
    if (haveSameBytes(copy, partial)) {
      rmSync(partial);
      return copy;
    }
    copy = `${name}-${n}`;
  }
  renameSync(partial, copy);
  sync(dirname(copy));
  return copy;
}

function sync(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

const CHUNK_BYTES = 1_048_576;

/** SQLite writes the same bytes for the same content, so a retry without changes in between finds its copy. */
function haveSameBytes(left: string, right: string): boolean {
  const { size } = statSync(left);
  if (size !== statSync(right).size) return false;
  const files = [left, right].map((path) => ({ descriptor: openSync(path, 'r'), chunk: Buffer.alloc(CHUNK_BYTES) }));
  try {
    for (let at = 0; at < size; at += CHUNK_BYTES) {
      const [one, other] = files.map(({ descriptor, chunk }) =>
        chunk.subarray(0, readSync(descriptor, chunk, 0, CHUNK_BYTES, at)),
      );
      if (one === undefined || other === undefined || !one.equals(other)) return false;
    }
    return true;
  } finally {
    for (const { descriptor } of files) closeSync(descriptor);
  }
}
