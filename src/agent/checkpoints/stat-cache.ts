import type { Stats } from 'node:fs';

export interface Seen {
  ino: number;
  size: number;
  mtimeMs: number;
  ctimeMs: number;
  hash: string;
  /** When it was looked at. */
  readMs: number;
}

/** A change right after a file was read may leave it the same times, because file systems count them in ticks. */
const TICK_MS = 50;

/** What files were like when their content was read, so that unchanged files are not read again. */
export class StatCache {
  readonly #roots = new Map<string, ReadonlyMap<string, Seen>>();

  /** The hash of the content, if the file has not changed since it was read. */
  find(root: string, path: string, { ino, size, mtimeMs, ctimeMs }: Stats): string | undefined {
    const seen = this.#roots.get(root)?.get(path);
    if (!seen || seen.ino !== ino || seen.size !== size) return undefined;
    if (seen.mtimeMs !== mtimeMs || seen.ctimeMs !== ctimeMs) return undefined;
    return seen.readMs - ctimeMs > TICK_MS ? seen.hash : undefined;
  }

  keep(root: string, entries: ReadonlyMap<string, Seen>): void {
    this.#roots.set(root, entries);
  }
}
