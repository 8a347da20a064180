import assert from 'node:assert/strict';
import { mkdir, readdir, symlink, utimes } from 'node:fs/promises';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { lockHome } from '../../gateway/store/home-lock.ts';
import { openStage, options, write } from './backup-fixture.ts';
import { makeBackup } from './make-backup.ts';

test('what a killed backup left beside its archive is removed after a day, and nothing else', async () => {
  await using stage = await openStage();
  const { folder } = stage;
  const { nowMs } = options(stage);
  const agedBy = async (name: string, hours: number) => {
    await write(path.join(folder, name, 'headgate.db'), 'a copy');
    const at = nowMs / 1000 - hours * 3_600;
    await utimes(path.join(folder, name), at, at);
  };
  await agedBy('.headgate-backup-a1B2c3', 25);
  await agedBy('.headgate-backup-d4E5f6', 23);
  await agedBy('.headgate-backup-of-mine', 25);
  await mkdir(path.join(folder, 'elsewhere'));
  await symlink(path.join(folder, 'elsewhere'), path.join(folder, '.headgate-backup-g7H8i9'));
  await makeBackup(options(stage));
  assert.deepEqual((await readdir(folder)).sort(), [
    '.headgate-backup-d4E5f6',
    '.headgate-backup-g7H8i9',
    '.headgate-backup-of-mine',
    'a.tar.gz',
    'elsewhere',
    'home',
  ]);
});

test('a file that the running daemon does not use is not backed up in place of its data', async () => {
  await using stage = await openStage();
  const stopped = (how: string) => {
    using database = new DatabaseSync(path.join(stage.home, 'headgate.db'));
    database.prepare("insert or replace into meta values ('clean_stop', ?)").run(how);
  };
  stopped('1');
  const lock = lockHome(stage.home);
  await assert.rejects(
    makeBackup(options(stage)),
    /does not use .*headgate\.db.*Back that up with pg_dump.*If the daemon is only starting or stopping, try again/,
  );
  stopped('0');
  await makeBackup(options(stage));
  lock.release();
  stopped('1');
  await makeBackup({ ...options(stage), target: stage.folder });
});

test('an unfinished copy of another store is not backed up', async () => {
  await using stage = await openStage();
  const mark = (isComplete: boolean) => {
    using database = new DatabaseSync(path.join(stage.home, 'headgate.db'));
    const text = JSON.stringify({ isComplete, from: 'postgresql://there/it', epoch: null, state: '' });
    database.prepare("insert or replace into meta values ('copy', ?)").run(text);
  };
  mark(false);
  await assert.rejects(
    makeBackup(options(stage)),
    /could not be backed up: the database holds an unfinished copy of postgresql:\/\/there\/it/,
  );
  mark(true);
  await makeBackup(options(stage));
});
