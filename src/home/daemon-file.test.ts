import assert from 'node:assert/strict';
import { readdir, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { tempDir } from '../testing/temp-store.ts';
import { readDaemonFile, removeDaemonFile, writeDaemonFile } from './daemon-file.ts';

const daemon = { url: 'http://127.0.0.1:7717', pid: 4_242, startedAt: '2026-11-20T09:00:00.000Z' };

test('the file of a daemon can be read, but only by its owner', async () => {
  using home = tempDir();
  await writeDaemonFile(home.path, daemon);
  assert.deepEqual(await readDaemonFile(home.path), daemon);
  assert.equal((await stat(path.join(home.path, 'daemon.json'))).mode & 0o777, 0o600);
  assert.deepEqual(await readdir(home.path), ['daemon.json']);
});

test('a new daemon replaces the file of a killed one', async () => {
  using home = tempDir();
  await writeDaemonFile(home.path, daemon);
  await writeDaemonFile(home.path, { ...daemon, pid: 5 });
  assert.equal((await readDaemonFile(home.path))?.pid, 5);
});

test('without a valid file, no daemon is known', async () => {
  using home = tempDir();
  assert.equal(await readDaemonFile(home.path), undefined);
  for (const text of ['', '{', 'null', '{"url":"file:///etc","pid":1,"startedAt":""}', '{"url":"http://x"}']) {
    await writeFile(path.join(home.path, 'daemon.json'), text);
    assert.equal(await readDaemonFile(home.path), undefined, text);
  }
});

test('a daemon removes only its own file', async () => {
  using home = tempDir();
  await writeDaemonFile(home.path, daemon);
  await removeDaemonFile(home.path, 1);
  assert.deepEqual(await readDaemonFile(home.path), daemon);
  await removeDaemonFile(home.path, daemon.pid);
  assert.deepEqual(await readdir(home.path), []);
  await removeDaemonFile(home.path, daemon.pid);
});
