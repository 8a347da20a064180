import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
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
  for (const file of files) assert.equal((await stat(file)).mode & 0o077, 0, `${file} is private`);
  for (const file of files) await writeFile(file, 'no code');
  assert.equal(await startAndStop(home), 200);
});

test('the compiled functions of a start are kept for the next one, and kept anew only if they were damaged', async (t) => {
  const { home, compiled } = await usedHome(t);
  await startAndStop(home);
  await startAndStop(home);
  const [file = ''] = (await filesIn(compiled)).filter((one) => path.basename(one).startsWith('start-script-'));
  const code = await readFile(file);
  const { ino } = await stat(file);
  await startAndStop(home);
  assert.equal((await stat(file)).ino, ino, 'V8 accepted it');
  const flipped = Buffer.from(code);
  flipped.fill(0xff, code.length / 2, code.length / 2 + 64);
  for (const damaged of [code.subarray(0, code.length / 2), flipped, code.subarray(4), Buffer.alloc(3)]) {
    await writeFile(file, damaged);
    assert.equal(await startAndStop(home), 200);
    const renewed = await readFile(file);
    assert.ok(!renewed.equals(damaged) && renewed.length > code.length / 2, 'it was kept anew');
  }
});

test('no cache is kept in a home with permissions for other users', async (t) => {
  const { home, compiled } = await usedHome(t);
  assert.equal(await startAndStop(home), 200);
  await chmod(home, 0o755);
  assert.equal(await startAndStop(home), 200);
  assert.deepEqual(await filesIn(compiled), []);
});
