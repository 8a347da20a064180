import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import { lockHome } from '../../gateway/store/home-lock.ts';
import {
  backUp,
  contentOf,
  epochIn,
  GOING_ON,
  LONG,
  NEWEST,
  NOW_MS,
  openStage,
  options,
  write,
} from './backup-fixture.ts';
import { linkHome } from './home-files.ts';
import { makeBackup } from './make-backup.ts';
import { checkBackup, restoreBackup } from './restore-backup.ts';
import { type Entry, toHeader } from './tar-entry.ts';

const KEPT = [
  'attachments/att_1',
  'config.json',
  'headgate-key',
  'headgate.db',
  LONG,
  'skills/page.html.part',
  'something-new.json',
  'token',
];

test('a backup holds the data of a home, and neither caches nor the person’s own files', async () => {
  await using stage = await openStage();
  await symlink('/etc/hostname', path.join(stage.home, 'link'));
  const made = await backUp(stage);
  assert.deepEqual([made.files, made.leftOut], [KEPT.length, ['link']]);
  assert.equal((await stat(stage.archive)).mode & 0o777, 0o600);
  const { files, schemaVersion, version, createdAt } = await checkBackup({ archive: stage.archive, signal: GOING_ON });
  assert.deepEqual(files.map(({ name }) => name).sort(), KEPT.toSorted());
  assert.deepEqual([schemaVersion, version, createdAt], [NEWEST, '9.9.9', '2026-11-27T23:45:00.000Z']);
  assert.deepEqual(await readdir(stage.folder), ['a.tar.gz', 'home'], 'nothing temporary is left');
  assert.ok(!(await readdir(stage.home)).some((name) => name.startsWith('.')));
});

test('a backup names what it cannot hold because of its name, and a restore leaves it where it is', async () => {
  await using stage = await openStage();
  const odd = (place: string) => Buffer.concat([Buffer.from(path.join(stage.home, place)), Buffer.from([0xe9])]);
  for (const place of ['top', 'skills/caf']) await writeFile(odd(place), 'Latin-1');
  await mkdir(odd('skills/dir'));
  await write(path.join(stage.home, 'skills/\ufffd'), 'a name like any other');
  const { leftOut, files } = await backUp(stage);
  assert.deepEqual(new Set(leftOut), new Set(['skills/caf\ufffd', 'skills/dir\ufffd', 'top\ufffd']));
  assert.equal(files, KEPT.length + 1);
  const { aside = '' } = await restoreBackup({ ...stage, nowMs: NOW_MS, signal: GOING_ON });
  assert.equal(await readFile(odd('top'), 'utf8'), 'Latin-1');
  assert.ok((await readdir(path.join(aside, 'skills'))).includes('caf\ufffd'), 'it moves with its folder');
});

test('a temporary folder that cannot be made is reported in one line', async () => {
  await using stage = await openStage();
  await backUp(stage);
  await write(path.join(stage.folder, 'file'), '');
  const before = process.env.TMPDIR;
  process.env.TMPDIR = path.join(stage.folder, 'file');
  try {
    const refused = { name: 'StartError', message: /could not be unpacked into .*file: .*not a folder\. Nothing was/ };
    await assert.rejects(checkBackup({ archive: stage.archive, signal: GOING_ON }), refused);
  } finally {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
  }
});

test('a backup into a folder is named by its time, and no file is ever replaced', async () => {
  await using stage = await openStage();
  const { file } = await makeBackup({ ...options(stage), target: stage.folder });
  assert.equal(path.basename(file), 'headgate-backup-20261127-234500.tar.gz');
  const before = await readFile(file);
  await assert.rejects(makeBackup({ ...options(stage), target: stage.folder }), /exists already/);
  assert.deepEqual(await readFile(file), before);
});

test('a backup goes into a folder of the home that no backup holds, and not elsewhere into the home', async () => {
  await using stage = await openStage();
  const { file } = await makeBackup({ ...options(stage), target: undefined });
  assert.equal(path.relative(stage.home, file), 'backups/headgate-backup-20261127-234500.tar.gz');
  assert.equal((await stat(path.dirname(file))).mode & 0o777, 0o700);
  const again = await makeBackup({ ...options(stage), target: path.join(stage.home, 'backups/second.tar.gz') });
  assert.equal(again.files, KEPT.length, 'the first one is not in it');
  await symlink(stage.home, path.join(stage.folder, 'link'));
  for (const target of [stage.home, path.join(stage.home, 'workspace/a.tar.gz'), path.join(stage.folder, 'link')])
    await assert.rejects(makeBackup({ ...options(stage), target }), /is in the home folder\. Leave out the target/);
  await restoreBackup({ ...stage, archive: file, nowMs: NOW_MS, signal: GOING_ON });
  assert.equal((await readdir(path.dirname(file))).length, 2, 'a restore leaves the archives where they are');
});

test('where files cannot be linked, they are copied with their times', async () => {
  await using stage = await openStage();
  const folder = path.join(stage.folder, 'copies');
  await mkdir(folder);
  const attachment = path.join(stage.home, 'attachments/att_1');
  await utimes(attachment, 1_000, 1_000);
  for (const code of ['EXDEV', 'EPERM']) {
    const link = async () => Promise.reject(Object.assign(new Error(code), { code }));
    await linkHome(stage.home, folder, { link });
  }
  const files = KEPT.filter((name) => !['headgate-key', 'headgate.db'].includes(name));
  assert.deepEqual(Object.keys(await contentOf(folder)), files);
  const { mtimeMs, mode } = await stat(path.join(folder, 'attachments/att_1'));
  assert.deepEqual([mtimeMs, mode & 0o777], [1_000_000, 0o600]);
});

test('a signal ends a backup, a check and a restore, and nothing is left', async () => {
  await using stage = await openStage();
  const stopping = new AbortController();
  const temporary = async () => (await readdir(stage.folder)).concat(await readdir(stage.home)).filter(isTemporary);
  const going = makeBackup({ ...options(stage), signal: stopping.signal });
  stopping.abort();
  await assert.rejects(going, { message: 'The backup was interrupted. No archive was written.', exitCode: 130 });
  await backUp(stage);
  const before = await contentOf(stage.home);
  const ended = { ...stage, nowMs: NOW_MS, signal: stopping.signal };
  await assert.rejects(checkBackup(ended), { message: 'Interrupted. Nothing was changed.', exitCode: 130 });
  await assert.rejects(restoreBackup(ended), { message: 'Interrupted. Nothing was changed.', exitCode: 130 });
  const { 'daemon.lock': _, ...after } = await contentOf(stage.home);
  assert.deepEqual([after, await temporary()], [before, []]);
});

const isTemporary = (name: string) => name.startsWith('.');

test('a restored home is as it was backed up, in a new epoch, and the former files are set aside', async () => {
  await using stage = await openStage();
  await backUp(stage);
  await writeFile(path.join(stage.home, 'config.json'), '{later: true}');
  await writeFile(path.join(stage.home, 'attachments/att_9'), 'later');
  await writeFile(path.join(stage.home, 'headgate.db-wal'), '');
  const { aside = '' } = await restoreBackup({ ...stage, nowMs: NOW_MS, signal: GOING_ON });
  const content = await contentOf(stage.home);
  assert.equal(path.relative(stage.home, aside), 'before-restore-20261127-234500');
  assert.deepEqual(
    ['config.json', 'attachments/att_1', 'workspace/mine.txt', LONG].map((name) => content[name]),
    ['{}', 'bytes of a file', 'my own', 'a skill'],
  );
  assert.equal(content['attachments/att_9'], undefined);
  const former = await contentOf(aside);
  assert.deepEqual([former['config.json'], former['attachments/att_9']], ['{later: true}', 'later']);
  assert.ok('headgate.db-wal' in former, 'a log without its database would be read by the restored one');
  assert.deepEqual([epochIn(stage.home), epochIn(aside)], [undefined, 'former']);
});

test('a backup is restored into a new folder, closed to others', async () => {
  await using stage = await openStage();
  await backUp(stage);
  const home = path.join(stage.folder, 'new');
  assert.equal((await restoreBackup({ ...stage, home, nowMs: NOW_MS, signal: GOING_ON })).aside, undefined);
  assert.deepEqual(new Set(Object.keys(await contentOf(home))), new Set(['daemon.lock', ...KEPT]));
  assert.ok(!(await readdir(home)).some((name) => name.startsWith('before-restore')), 'there was nothing to keep');
  assert.equal((await stat(home)).mode & 0o777, 0o700);
  assert.equal((await stat(path.join(home, 'attachments/att_1'))).mode & 0o777, 0o600);
});

test('a restore is refused while a daemon uses the home, and into a folder with other files', async () => {
  await using stage = await openStage();
  await backUp(stage);
  const lock = lockHome(stage.home);
  await assert.rejects(
    restoreBackup({ ...stage, nowMs: NOW_MS, signal: GOING_ON }),
    /Another Headgate daemon is using/,
  );
  lock.release();
  const other = path.join(stage.folder, 'other');
  await write(path.join(other, 'thesis.txt'), 'mine');
  await assert.rejects(
    restoreBackup({ ...stage, home: other, nowMs: NOW_MS, signal: GOING_ON }),
    /holds files that are not Headgate’s/,
  );
  assert.deepEqual(await readdir(other), ['thesis.txt']);
  await writeFile(stage.archive, 'no archive');
  await assert.rejects(
    restoreBackup({ ...stage, home: path.join(stage.folder, 'new'), nowMs: NOW_MS, signal: GOING_ON }),
    /not an intact/,
  );
  assert.deepEqual(await readdir(stage.folder), ['a.tar.gz', 'home', 'other']);
});

test('a backup of a newer Headgate, or of another database, is refused', async () => {
  await using newer = await openStage({ schema: NEWEST + 1 });
  await backUp(newer);
  await assert.rejects(
    checkBackup({ archive: newer.archive, signal: GOING_ON }),
    /is from Headgate 9\.9\.9, which is newer .* Upgrade first\. Nothing/,
  );
  await writeFile(path.join(newer.home, 'headgate.db'), 'no database, but long enough to look like one'.repeat(50));
  await rm(newer.archive);
  await assert.rejects(backUp(newer), /could not be backed up: .*No archive was written/);
});

function change({ home }: { home: string }, sql: string): void {
  using database = new DatabaseSync(path.join(home, 'headgate.db'));
  database.exec(sql);
}

test('a database that does not say its schema version is not backed up, because no version could restore it', async () => {
  for (const damaged of ['', 'x', '-1', '2.5']) {
    await using stage = await openStage();
    change(stage, `update meta set value = '${damaged}' where key = 'schema_version'`);
    await assert.rejects(backUp(stage), /could not be backed up: the database is not one of Headgate/, damaged);
  }
});

test('a backup with a damaged way back is one of a newer Headgate', async () => {
  await using stage = await openStage({ schema: NEWEST + 1 });
  change(stage, "insert into meta values ('schema_usable_from', 'x')");
  await backUp(stage);
  await assert.rejects(checkBackup({ archive: stage.archive, signal: GOING_ON }), /which is newer .* Upgrade first/);
});

test('the key that the secrets of the database need is in the archive, or the manifest names it', async () => {
  await using stage = await openStage();
  const own = await backUp(stage);
  assert.equal(own.machineKey?.included, true);
  await rm(stage.archive);
  change(stage, "insert into store_keys values ('elsewhere')");
  assert.deepEqual((await backUp(stage)).machineKey, { id: 'elsewhere', included: false });
});

const damages: Record<string, (bytes: Buffer) => Buffer> = {
  'with its end missing': (bytes) => bytes.subarray(0, bytes.length - 100),
  'with a flipped bit': (bytes) => flip(bytes, Math.floor(bytes.length / 2)),
  'that is empty': () => Buffer.alloc(0),
  'that is another file': () => Buffer.from('a text'),
  'with a changed byte, compressed again': (bytes) =>
    repacked(bytes, (tar) => flip(tar, tar.indexOf('bytes of a file'))),
  'without its manifest': (bytes) =>
    repacked(bytes, (tar) => Buffer.concat([tar.subarray(0, tar.indexOf('manifest.json\0')), Buffer.alloc(1_024)])),
  'with something after its end': (bytes) => repacked(bytes, (tar) => Buffer.concat([tar, Buffer.from('more')])),
};

function flip(bytes: Buffer, at: number): Buffer {
  const changed = Buffer.from(bytes);
  changed.writeUInt8(changed.readUInt8(at) ^ 1, at);
  return changed;
}

const repacked = (bytes: Buffer, change: (tar: Buffer) => Buffer): Buffer => gzipSync(change(gunzipSync(bytes)));

const header = (change: Partial<Entry> & { name: string }): Buffer =>
  toHeader({ bytes: 0, mode: 0o600, mtimeMs: 0, ...change });

/** A header with another type of file. */
function ofType(type: string, name: string): Buffer {
  const block = header({ name });
  block.write(type, 156, 'latin1');
  block.fill(0x20, 148, 156);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return block;
}

const hostile: Record<string, Buffer> = {
  'a path that leaves the home': header({ name: '../outside' }),
  'a path that leaves it further down': header({ name: 'skills/../../outside' }),
  'an absolute path': header({ name: '/tmp/outside' }),
  'a long path that leaves it': header({ name: `skills/${'a/'.repeat(60)}${'../'.repeat(70)}outside` }),
  'a symbolic link': ofType('2', 'skills/link'),
  'a hard link': ofType('1', 'skills/link'),
  'a device': ofType('3', 'skills/null'),
  'a file that no backup holds': header({ name: 'daemon.lock' }),
  'a file that it does not list': header({ name: 'skills/extra' }),
  'a file twice': header({ name: 'token' }),
};
for (const [what, block] of Object.entries(hostile)) {
  damages[`with ${what}`] = (bytes) =>
    repacked(bytes, (tar) => {
      const at = tar.indexOf('manifest.json\0');
      return Buffer.concat([tar.subarray(0, at), block, tar.subarray(at)]);
    });
}

test('an archive that is damaged or hostile is refused, and nothing changes', async (t) => {
  await using stage = await openStage();
  await backUp(stage);
  const intact = await readFile(stage.archive);
  const before = await contentOf(stage.folder);
  for (const [what, change] of Object.entries(damages))
    await t.test(`an archive ${what}`, async () => {
      await writeFile(stage.archive, change(intact));
      const refusal = await restoreBackup({ ...stage, nowMs: NOW_MS, signal: GOING_ON }).catch(
        (error: Error) => error.message,
      );
      assert.match(String(refusal), /is not an intact backup: .+\. Nothing was changed\.$/);
      await writeFile(stage.archive, intact);
      const { 'home/daemon.lock': _, 'home/daemon.lock-journal': __, ...after } = await contentOf(stage.folder);
      assert.deepEqual(after, before);
    });
});
