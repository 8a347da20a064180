import assert from 'node:assert/strict';
import { chmod, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { z } from 'zod';
import { fakeClock } from '../testing/fake-clock.ts';
import { recordingLog, tempDir } from '../testing/temp-store.ts';
import { jsonDocument } from './json-document.ts';

function setUp(folder: string) {
  const log = recordingLog();
  const path = join(folder, 'doc.json');
  const schema = z.object({ n: z.number() });
  return {
    path,
    log,
    document: jsonDocument({ path, parse: (value) => schema.parse(value), clock: fakeClock(5), log }),
  };
}

test('a document is absent until it is written, and then readable only by its owner', async () => {
  using folder = tempDir();
  const { path, document } = setUp(folder.path);
  assert.equal(await document.read(), null);
  await document.write({ n: 1 });
  assert.deepEqual(await document.read(), { n: 1 });
  assert.equal((await stat(path)).mode & 0o777, 0o600);
  assert.deepEqual(await readdir(folder.path), ['doc.json']);
});

test('the previous version is kept', async () => {
  using folder = tempDir();
  const { path, document } = setUp(folder.path);
  await document.write({ n: 1 });
  await document.write({ n: 2 });
  assert.deepEqual(JSON.parse(await readFile(`${path}.bak`, 'utf8')), { n: 1 });
  assert.equal((await stat(`${path}.bak`)).mode & 0o777, 0o600);
});

for (const [what, text] of [
  ['half a file', '{"n": 1'],
  ['an empty file', ''],
  ['another shape', '{"n":"one"}'],
]) {
  test(`${what} is set aside and reported, and the previous version is used`, async () => {
    using folder = tempDir();
    const { path, log, document } = setUp(folder.path);
    await document.write({ n: 1 });
    await document.write({ n: 2 });
    await writeFile(path, text ?? '');
    assert.deepEqual(await document.read(), { n: 1 });
    assert.equal(await readFile(`${path}.corrupt-5`, 'utf8'), text);
    assert.deepEqual(log.lines, [['error', 'a malformed file was set aside']]);
  });
}

test('without a previous version, a damaged document is absent and its bytes are kept', async () => {
  using folder = tempDir();
  const { path, document } = setUp(folder.path);
  await writeFile(path, 'garbage', { mode: 0o600 });
  assert.equal(await document.read(), null);
  await document.write({ n: 3 });
  assert.deepEqual([await document.read(), await readFile(`${path}.corrupt-5`, 'utf8')], [{ n: 3 }, 'garbage']);
});

test('a document that others can read is refused, not set aside', async () => {
  using folder = tempDir();
  const { path, document } = setUp(folder.path);
  await document.write({ n: 1 });
  await chmod(path, 0o644);
  await assert.rejects(async () => document.read(), /can be read by other users \(mode 644\)/);
});

test('the open mode of a leftover temporary file is not passed on', async () => {
  using folder = tempDir();
  const { path, document } = setUp(folder.path);
  await writeFile(`${path}.tmp`, 'left by a crash', { mode: 0o644 });
  await document.write({ n: 1 });
  assert.equal((await stat(path)).mode & 0o777, 0o600);
});
