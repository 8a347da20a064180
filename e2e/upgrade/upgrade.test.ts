import assert from 'node:assert/strict';
import { readdir, readFile, stat, symlink } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { needs } from '../../src/testing/needs.ts';
import { commandsUnder, paste } from '../support/documented-commands.ts';
import { differencesOf, judge } from './differences.ts';
import { dumpDatabase } from './fixture-files.ts';
import { MEANT, OF_SECOND_START } from './meant-differences.ts';
import { unpackHome } from './old-home.ts';

const MINUTE_MS = 60_000;
const NONE = { undeclared: [], notFound: [] };

for (const [name, meant] of Object.entries(MEANT)) {
  test(`${name}: today's build gives the same answers as the older one, except for intended differences`, async () => {
    await using old = await unpackHome(name);
    const before = dumpDatabase(old.database);
    const config = await readFile(path.join(old.home, 'config.json'), 'utf8');
    const { daemon, answers } = await old.start(MINUTE_MS);
    const told = await answers();
    assert.deepEqual(judge(differencesOf(await old.answersOfThen(daemon), told), meant), NONE);

    const copy = `${old.database}.bak-v${name.replace('schema-', '')}`;
    assert.equal(dumpDatabase(copy), before, 'the copy equals the database of the older build');
    assert.equal((await stat(copy)).mode & 0o077, 0, 'only the owner may read the copy');
    assert.equal(await readFile(path.join(old.home, 'config.json'), 'utf8'), config);

    await daemon.stop();
    const files = await readdir(old.home);
    const again = await old.start(2 * MINUTE_MS);
    assert.deepEqual(judge(differencesOf(told, await again.answers()), OF_SECOND_START), NONE, 'a second start');
    await again.daemon.stop();
    assert.deepEqual(await readdir(old.home), files);
  });
}

const sqlite = await needs('sqlite3');

test('the documented downgrade restores the database from before the upgrade, with a new epoch', sqlite, async () => {
  await using old = await unpackHome('schema-11');
  const before = dumpDatabase(old.database);
  const { daemon } = await old.start(MINUTE_MS);
  await daemon.kill9();
  await symlink(old.home, path.join(old.root, '.headgate'));
  const blocks = await commandsUnder('Upgrade and downgrade');
  // A restart by the installed program is tried in e2e/restart/handover.test.ts.
  for (const block of blocks.filter((commands) => !commands.includes('headgate restart')))
    await paste(block, { home: old.root, cwd: old.root });
  const epoch = /\('epoch', '[^']*'\),\n/;
  assert.match(before, epoch);
  assert.equal(dumpDatabase(old.database), before.replace(epoch, ''));
  assert.ok((await readdir(old.home)).includes('headgate.db.newer'));
});
