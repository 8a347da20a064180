import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { removeOldOutputs } from './output-files.ts';

test('stored outputs go when they are older than what may still name them', async (t) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'headgate-'));
  t.after(() => rm(folder, { recursive: true }));
  await mkdir(path.join(folder, 'somebody-elses'));
  for (const [name, atSecs] of Object.entries({ 'old.log': 999, 'young.log': 1_000 })) {
    await writeFile(path.join(folder, name), 'x');
    await utimes(path.join(folder, name), atSecs, atSecs);
  }
  await removeOldOutputs(folder, 1_000_000);
  assert.deepEqual((await readdir(folder)).sort(), ['somebody-elses', 'young.log']);
});

test('no folder yet is nothing to do', async () => {
  await removeOldOutputs('/nonexistent/outputs', 1_000_000);
});
