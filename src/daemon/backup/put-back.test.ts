import assert from 'node:assert/strict';
import { mkdtempDisposable, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { backUp, contentOf, GOING_ON, NOW_MS, openStage, write } from './backup-fixture.ts';
import { finishRestore } from './finish-restore.ts';
import { makeBackup } from './make-backup.ts';
import { finishPutBack } from './put-back.ts';
import { restoreBackup } from './restore-backup.ts';

/** Fails for one move, and after it for as many as are given. */
function failing(name: string, { andAfter = 0 } = {}) {
  let left = 1 + andAfter;
  let hasFailed = false;
  return async (from: string, to: string) => {
    hasFailed ||= path.basename(from) === name;
    if (hasFailed && left > 0) {
      left -= 1;
      throw Object.assign(new Error(`EBUSY: resource busy or locked, rename '${from}'`), { code: 'EBUSY' });
    }
    await rename(from, to);
  };
}

test('a restore that cannot move a file takes back what it has moved, or can be completed', async () => {
  await using stage = await openStage();
  await backUp(stage);
  await rm(path.join(stage.home, 'token')); // it is only among the restored files
  await write(path.join(stage.home, 'zlast'), 'later');
  const before = await contentOf(stage.home);
  for (const name of ['attachments', 'token']) {
    const refused = restoreBackup({ ...stage, nowMs: NOW_MS, signal: GOING_ON }, { rename: failing(name) });
    await assert.rejects(refused, /could not be replaced: EBUSY.*The former files are in place again/);
    const { 'daemon.lock': _, ...after } = await contentOf(stage.home);
    assert.deepEqual(after, before, `${name} cannot be moved`);
    const names = await readdir(stage.home);
    assert.ok(
      !names.some((each) => each.startsWith('before-restore') || each.startsWith('.restore')),
      'nothing is left',
    );
  }
  const stuck = restoreBackup(
    { ...stage, nowMs: NOW_MS, signal: GOING_ON },
    { rename: failing('token', { andAfter: 1 }) },
  );
  await assert.rejects(stuck, /could not be replaced: EBUSY.*to finish it/);
  await finishRestore(stage.home);
  const content = await contentOf(stage.home);
  assert.deepEqual([content.token, content.zlast], ['svc_1', undefined]);
  assert.equal(content['before-restore-20261127-234500/zlast'], 'later');
});

test('a restore that is killed at any step is completed by the next start', async () => {
  for (let step = 0; ; step += 1) {
    await using folder = await mkdtempDisposable(path.join(tmpdir(), 'headgate-restore-'));
    const home = folder.path;
    const staged = '.restore-x';
    for (const name of ['token', 'headgate.db', 'skills/former']) await write(path.join(home, name), 'former');
    for (const name of ['token', 'config.json', 'headgate.db']) await write(path.join(home, staged, name), 'restored');
    await write(path.join(home, 'workspace/mine.txt'), 'my own');
    let left = step;
    const dying = async (from: string, to: string) => {
      if (left === 0) throw new Error('killed');
      left -= 1;
      await rename(from, to);
    };
    const journal = { phase: 'setting aside', staged, aside: 'before-restore-x' };
    await writeFile(path.join(home, 'restoring.json'), JSON.stringify(journal));
    const done = await finishPutBack(home, { rename: dying }).then(
      () => true,
      () => false,
    );
    const again = {
      home,
      target: path.join(home, 'b.tar.gz'),
      version: '9.9.9',
      nowMs: NOW_MS,
      signal: GOING_ON,
      environment: {},
    };
    if (!done) await assert.rejects(makeBackup(again), /was interrupted/);
    const former = path.join(home, 'before-restore-x');
    const notice = `A restore that was interrupted has been completed. The former files are in ${former}.`;
    assert.deepEqual(await finishRestore(home), done ? [] : [notice]);
    const { 'daemon.lock': _, ...content } = await contentOf(home);
    assert.deepEqual(
      content,
      {
        'before-restore-x/headgate.db': '',
        'before-restore-x/skills/former': 'former',
        'before-restore-x/token': 'former',
        'config.json': 'restored',
        'headgate.db': '',
        token: 'restored',
        'workspace/mine.txt': 'my own',
      },
      `killed at step ${step}`,
    );
    if (done) return assert.equal(step, 6, 'three files are set aside, three placed');
  }
});

test('what a restore had unpacked when it was killed is removed by the next start', async () => {
  await using folder = await mkdtempDisposable(path.join(tmpdir(), 'headgate-restore-'));
  const home = folder.path;
  await write(path.join(home, 'token'), 'former');
  await write(path.join(home, '.restore-x', 'token'), 'half');
  assert.deepEqual(await finishRestore(home), []);
  const { 'daemon.lock': _, ...content } = await contentOf(home);
  assert.deepEqual([content, (await readdir(home)).includes('.restore-x')], [{ token: 'former' }, false]);
});
