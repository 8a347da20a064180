import assert from 'node:assert/strict';
import { lstat, readFile, rm, symlink } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { backUp, GOING_ON, NOW_MS, openStage, write } from './backup-fixture.ts';
import { toManifest, toManifestText } from './manifest.ts';
import { restoreBackup } from './restore-backup.ts';

test('settings behind a link are in a backup, and a restore leaves links that nothing replaces', async () => {
  await using stage = await openStage();
  const config = path.join(stage.home, 'config.json');
  const dotfile = path.join(stage.folder, 'dotfile.json');
  await rm(config);
  await write(dotfile, '{ approvalTimeoutSecs: 11 }');
  await symlink(dotfile, config);
  await symlink(stage.folder, path.join(stage.home, 'link'));
  assert.deepEqual((await backUp(stage)).leftOut, ['link']);
  await write(dotfile, '{ approvalTimeoutSecs: 12 }');
  const restored = { ...stage, nowMs: NOW_MS, signal: GOING_ON };
  const { aside = '' } = await restoreBackup(restored);
  assert.equal(await readFile(config, 'utf8'), '{ approvalTimeoutSecs: 11 }');
  assert.ok((await lstat(path.join(aside, 'config.json'))).isSymbolicLink());
  assert.ok((await lstat(path.join(stage.home, 'link'))).isSymbolicLink());

  await rm(config);
  await symlink('/nowhere', config);
  await rm(stage.archive);
  assert.deepEqual(new Set((await backUp(stage)).leftOut), new Set(['config.json', 'link']));
  await restoreBackup({ ...restored, nowMs: NOW_MS + 1_000 });
  assert.ok((await lstat(config)).isSymbolicLink(), 'the archive has nothing to take its place');
});

test('a file with the name of the manifest is left out, so that the archive can be restored', async () => {
  await using stage = await openStage();
  await write(path.join(stage.home, 'manifest.json'), '{"name":"my page"}');
  assert.deepEqual((await backUp(stage)).leftOut, ['manifest.json']);
  await restoreBackup({ ...stage, nowMs: NOW_MS, signal: GOING_ON });
  assert.equal(await readFile(path.join(stage.home, 'manifest.json'), 'utf8'), '{"name":"my page"}');
});

test('a manifest that a restore would refuse ends the backup', () => {
  const file = { name: 'a', bytes: 1, sha256: '0'.repeat(64) };
  const described = { version: '1', createdAt: '', schemaVersion: 1, machineKey: null, files: [file, file] };
  assert.throws(() => toManifestText(toManifest(described), 300), /^Error: 2 files are too many for one archive$/);
  assert.ok(toManifestText(toManifest(described)).endsWith('}\n'));
});
