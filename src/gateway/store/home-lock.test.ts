import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { tempDir } from '../../testing/temp-store.ts';
import { lockHome } from './home-lock.ts';

test('a home has one daemon at a time', () => {
  using home = tempDir();
  const first = lockHome(home.path);
  assert.throws(() => lockHome(home.path), {
    message: `Another Headgate daemon is using ${home.path}. Stop it first, or give this one its own folder with --home.`,
  });
  first.release();
  first.release();
  lockHome(home.path).release();
});

test('another process holds the lock until it is killed', async () => {
  using home = tempDir();
  const script = fileURLToPath(new URL('./fixtures/lock-holder.ts', import.meta.url));
  const child = spawn(process.execPath, [script, home.path], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  assert.throws(() => lockHome(home.path), /Another Headgate daemon/);
  child.kill('SIGKILL');
  await once(child, 'exit');
  lockHome(home.path).release();
});

for (const [title, content] of [
  ['is empty', ''],
  ['holds a few bytes', 'no lock'],
  ['holds pages of garbage', 'no lock '.repeat(2_000)],
] as const) {
  test(`a lock file that ${title} locks like any other`, () => {
    using home = tempDir();
    writeFileSync(join(home.path, 'daemon.lock'), content);
    const lock = lockHome(home.path);
    assert.throws(() => lockHome(home.path), /Another Headgate daemon/);
    lock.release();
    lockHome(home.path).release();
  });
}

test('the error for a home that cannot be written names it', () => {
  using home = tempDir();
  const missing = join(home.path, 'missing');
  assert.throws(() => lockHome(missing), {
    message: `Cannot lock ${join(missing, 'daemon.lock')}: unable to open database file`,
  });
});
