import assert from 'node:assert/strict';
import { mkdir, mkdtemp, mkdtempDisposable, readdir, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { readOutput, removeOldOutputs, takeRange } from './output-files.ts';

test('stored outputs are removed once they are older than anything that may refer to them', async (t) => {
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

test('old files that are no outputs stay, and keep no others from being removed', async () => {
  await using folder = await mkdtempDisposable(path.join(tmpdir(), 'headgate-'));
  await symlink('nowhere', path.join(folder.path, 'a.log'));
  const names = ['notes.txt', '.DS_Store', 'my diary.log', 'old.log', 'broken.log.part'];
  for (const name of names) {
    await writeFile(path.join(folder.path, name), 'x');
    await utimes(path.join(folder.path, name), 999, 999);
  }
  await removeOldOutputs(folder.path, 1_000_000);
  assert.deepEqual((await readdir(folder.path)).sort(), ['.DS_Store', 'a.log', 'my diary.log', 'notes.txt']);
});

test('a missing folder is not an error', async () => {
  await removeOldOutputs('/nonexistent/outputs', 1_000_000);
});

/** The whole output, read in parts of `limit` bytes. */
async function inParts(
  read: (range: { offset: number; limit: number }) => Promise<{ text: string; totalBytes: number }>,
  limit: number,
) {
  const parts: string[] = [];
  let total = Number.POSITIVE_INFINITY;
  for (let offset = 0; offset < total; offset += limit) {
    const part = await read({ offset, limit });
    parts.push(part.text);
    total = part.totalBytes;
  }
  return parts;
}

test('adjacent parts make up the whole, and no character is cut', async () => {
  const parts = fc.asyncProperty(
    fc.string({ unit: 'grapheme' }),
    fc.integer({ min: 1, max: 9 }),
    async (whole, limit) => {
      const bytes = Buffer.from(whole);
      const texts = await inParts(async (range) => takeRange(bytes, range), limit);
      assert.equal(texts.join(''), whole);
      for (const text of texts) assert.ok(Buffer.byteLength(text) <= limit + 3);
    },
  );
  await fc.assert(parts);
});

test('a stored output is read in the same parts', async (t) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'headgate-'));
  t.after(() => rm(folder, { recursive: true }));
  const whole = 'a€𝄞\nline\n'.repeat(20);
  await writeFile(path.join(folder, 'out_1.log'), whole);
  const read = async (range: { offset: number; limit: number }) =>
    (await readOutput(folder, 'out_1.log', range)) ?? assert.fail('it is there');
  for (const limit of [1, 4, 7, 1_000]) assert.equal((await inParts(read, limit)).join(''), whole);
  assert.deepEqual(await read({ offset: 10_000, limit: 10 }), { text: '', totalBytes: Buffer.byteLength(whole) });
});

test('invalid bytes are replaced, and reading continues after them', async () => {
  const bytes = Buffer.from([0x61, 0x80, 0x80, 0x80, 0x80, 0x80, 0xff, 0x62]);
  const texts = await inParts(async (range) => takeRange(bytes, range), 2);
  assert.match(texts.join(''), /^a\ufffd+b$/);
});

test('names that lead out of the folder, and symbolic links, are not read', async (t) => {
  const root = await mkdtemp(path.join(tmpdir(), 'headgate-'));
  t.after(() => rm(root, { recursive: true }));
  const folder = path.join(root, 'outputs');
  await mkdir(folder);
  await writeFile(path.join(root, 'secret.log'), 'secret');
  await symlink(path.join(root, 'secret.log'), path.join(folder, 'link.log'));
  for (const name of ['../secret.log', path.join(root, 'secret.log'), 'link.log', 'gone.log', '', '.', 'a\0.log']) {
    assert.equal(await readOutput(folder, name, { offset: 0, limit: 10 }), undefined, JSON.stringify(name));
  }
});
