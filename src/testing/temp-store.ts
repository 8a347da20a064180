import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SqliteStore, SqliteStoreOptions } from '../gateway/store/sqlite-store.ts';
import type { Log } from '../log.ts';
import { fakeClock } from './fake-clock.ts';
import { storeEngine } from './store-engine.ts';

/** A temporary folder; disposing removes it with everything in it. */
export function tempDir(parent = tmpdir()): { path: string } & Disposable {
  const path = mkdtempSync(join(parent, 'headgate-'));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

/** A log that records each entry as `[level, message]`. */
export function recordingLog(): Log & { lines: [string, string][]; fields: object[] } {
  const lines: [string, string][] = [];
  const fields: object[] = [];
  const to = (level: string) => (told: object, message: string) => {
    lines.push([level, message]);
    fields.push(told);
  };
  return { lines, fields, debug: to('debug'), info: to('info'), warn: to('warn'), error: to('error') };
}

/** A real store in a temporary folder; closed and removed with the test. */
export async function tempStore(options: Partial<SqliteStoreOptions> = {}): Promise<SqliteStore> {
  const dir = tempDir();
  const path = options.path ?? join(dir.path, 'headgate.db');
  const store = await storeEngine().open({
    path,
    clock: fakeClock(1_000),
    log: recordingLog(),
    durability: 'normal',
    bootId: 'boot-1',
    ...options,
  });
  const dispose = async (): Promise<void> => {
    await store.close();
    if (options.path === undefined) await storeEngine().remove(path);
    dir[Symbol.dispose]();
  };
  return { ...store, close: dispose, [Symbol.asyncDispose]: dispose };
}
