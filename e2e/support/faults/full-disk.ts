import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { DaemonUnderTest } from '../daemon/daemon.ts';
import { pause } from '../deadline.ts';

/** A separate, small file system. */
export interface SmallDisk extends Disposable {
  folder: string;
  /** Fills it. */
  fill(): void;
  /** Frees it. */
  free(): void;
}

/** Mounts a tmpfs. A test that does it needs `small disks`. */
export function mountSmallDisk(megabytes: number): SmallDisk {
  const folder = mkdtempSync(path.join(tmpdir(), 'headgate-disk-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder], { stdio: 'pipe' });
  const ballast = path.join(folder, 'ballast');
  return {
    folder,
    fill() {
      const block = Buffer.alloc(4_096);
      assert.throws(() => {
        for (;;) writeFileSync(ballast, block, { flag: 'a' });
      }, /ENOSPC/);
    },
    free: () => rmSync(ballast, { force: true }),
    [Symbol.dispose]() {
      execFileSync('umount', ['--lazy', folder]);
      rmdirSync(folder);
    },
  };
}

/** Waits until /health reports this of the disk. */
export async function storeIs(daemon: DaemonUnderTest, status: 'ok' | 'degraded', withinMs = 5_000): Promise<void> {
  const deadlineMs = performance.now() + withinMs;
  for (;;) {
    const { body } = await daemon.get('/health');
    if (body.store.status === status) return;
    if (performance.now() > deadlineMs) assert.fail(`not ${status} within ${withinMs} ms: ${JSON.stringify(body)}`);
    await pause(50);
  }
}

/** The result of SQLite's integrity check of a home's database; `ok` if it is intact. */
export function integrityOf(home: string): unknown {
  using database = new DatabaseSync(path.join(home, 'headgate.db'), { readOnly: true });
  return database.prepare('pragma integrity_check').get()?.integrity_check;
}
