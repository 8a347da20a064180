import { closeSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { freeName } from '../free-name.ts';
import type { Connection } from '../sqlite/sqlite-connection.ts';

/**
 * Copies the database to `name`, or to the first of `<name>-2`, `<name>-3` … that is free, and returns the path. Only a
 * complete copy that is on disk gets this name, because someone may have to go back to it. A kill leaves `<name>.partial`,
 * which the next copy replaces.
 */
export function copyDatabase(connection: Connection, name: string): string {
  const partial = `${name}.partial`;
  for (const leftover of [partial, `${partial}-journal`]) rmSync(leftover, { force: true });
  closeSync(openSync(partial, 'wx', 0o600));
  connection.run('vacuum into ?', [partial]);
  sync(partial);
  const copy = freeName(name);
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
