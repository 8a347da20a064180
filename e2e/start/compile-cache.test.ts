import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { startDaemon } from '../support/daemon/daemon.ts';

delete process.env.NODE_COMPILE_CACHE; // other tests share it; here each home has its own

/** A home folder with the cache of an older build. */
async function usedHome(t: TestContext) {
  const home = await mkdtemp(path.join(tmpdir(), 'headgate-e2e-'));
  t.after(() => rm(home, { recursive: true, force: true, maxRetries: 5 }));
  const compiled = path.join(home, 'compiled');
  await mkdir(path.join(compiled, 'older-build'), { recursive: true });
  return { home, compiled };
}

async function startAndStop(home: string): Promise<number> {
  await using daemon = await startDaemon({ home });
  const { status } = await daemon.fetch('/health');
  await daemon.stop();
  return status;
}

async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => path.join(parentPath, name));
}

test('the compile cache is kept for later starts, old caches are deleted, and a damaged cache does no harm', async (t) => {
  const { home, compiled } = await usedHome(t);
  assert.equal(await startAndStop(home), 200);
  const builds = await readdir(compiled);
  assert.deepEqual([builds.length, builds.includes('older-build')], [1, false]);
  assert.deepEqual(await filesIn(compiled), [], 'the first start only created the folder');
  assert.equal(await startAndStop(home), 200);
  const files = await filesIn(compiled);
  assert.ok(files.length >= 5, `${files.length} files are kept`);
  for (const file of files) await writeFile(file, 'no code');
  assert.equal(await startAndStop(home), 200);
});

test('no cache is kept in a home with permissions for other users', async (t) => {
  const { home, compiled } = await usedHome(t);
  assert.equal(await startAndStop(home), 200);
  await chmod(home, 0o755);
  assert.equal(await startAndStop(home), 200);
  assert.deepEqual(await filesIn(compiled), []);
});
