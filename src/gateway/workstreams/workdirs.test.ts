import assert from 'node:assert/strict';
import { mkdirSync, realpathSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fakeClock } from '../../testing/fake-clock.ts';
import { tempDir, tempStore } from '../../testing/temp-store.ts';
import { OF_EVERYONE } from '../sharing/perception.ts';
import { createWorkdirs } from './workdirs.ts';
import { insertWorkstream, toWorkstreamRow } from './workstream-rows.ts';

async function machine(t: TestContext) {
  const dir = tempDir();
  const store = await tempStore();
  const userHome = join(realpathSync(dir.path), 'ada');
  const home = join(userHome, '.headgate');
  const project = join(userHome, 'project');
  for (const folder of [join(home, 'workspace'), project]) mkdirSync(folder, { recursive: true });
  const policy = { home, userHome, standard: join(home, 'workspace'), otherHomes: [], uid: process.getuid?.() };
  const workdirs = await createWorkdirs({ policy, allowed: undefined, store, clock: fakeClock() });
  t.after(async () => {
    await workdirs.release('ws');
    await store.close();
    dir[Symbol.dispose]();
  });
  return {
    ...{ home, project, store, workdirs },
    /** Loads a workstream with this stored folder; returns whether it can be used. */
    async mayWork(workdir: string, workdirIno: string | null): Promise<boolean> {
      await workdirs.release('ws');
      const held = workdirs.hold({ wsId: 'ws', workdir, workdirIno, readable: [] });
      return held.check().then(
        () => true,
        () => false,
      );
    },
  };
}

const inoOf = (path: string) => String(statSync(path).ino);

function replace(path: string): void {
  renameSync(path, `${path}.old`);
  mkdirSync(path);
}

test('only the stored folder is accepted, another one at its path is not, and it may return', async (t) => {
  const it = await machine(t);
  const ino = inoOf(it.project);
  const seen = [await it.mayWork(it.project, ino)];
  replace(it.project);
  seen.push(await it.mayWork(it.project, ino), await it.mayWork(it.project, inoOf(it.project)));
  rmSync(it.project, { recursive: true });
  seen.push(await it.mayWork(it.project, ino));
  renameSync(`${it.project}.old`, it.project);
  seen.push(await it.mayWork(it.project, ino));
  assert.deepEqual(seen, [true, false, true, false, true]);
});

test('a folder replaced while it is held is noticed, even with the same inode', async (t) => {
  const it = await machine(t);
  const held = it.workdirs.hold({ wsId: 'ws', workdir: it.project, workdirIno: inoOf(it.project), readable: [] });
  const { folder } = await held.check();
  assert.equal(folder.path, it.project);
  replace(it.project);
  await assert.rejects(held.check(), { code: 'CONFLICT', message: /it was replaced by another folder or a link/ });
});

test('a folder stored without an identity is accepted once, and its identity is stored', async (t) => {
  const it = await machine(t);
  const row = toWorkstreamRow({ owned: OF_EVERYONE, wsId: 'ws', workdir: it.project, nowMs: 1 });
  await it.store.commit({ statements: [insertWorkstream(row)] });
  assert.equal(await it.mayWork(it.project, row.workdir_ino), true);
  const { workdir_ino: ino } = await it.store.db.selectFrom('workstreams').selectAll().executeTakeFirstOrThrow();
  assert.equal(ino, inoOf(it.project));
});

test('the workspace in our own home may be created again, because only Headgate can do that', async (t) => {
  const it = await machine(t);
  const workspace = join(it.home, 'workspace');
  const ino = inoOf(workspace);
  replace(workspace);
  assert.equal(await it.mayWork(workspace, ino), true);
  mkdirSync(join(workspace, 'inside'));
  const inside = inoOf(join(workspace, 'inside'));
  replace(join(workspace, 'inside'));
  assert.equal(await it.mayWork(join(workspace, 'inside'), inside), false);
});
