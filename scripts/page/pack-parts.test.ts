import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { loadAssets } from '../../src/daemon/assets.ts';
import { StartError } from '../../src/start-error.ts';
import { packParts } from './pack-parts.js';

const PARTS = {
  'list-0a1b.js': 'headgate.parts.list={}',
  'chart-ffff.js': `headgate.parts.chart='ü${'x'.repeat(9_000)}'`,
};

async function packed() {
  const root = await mkdtemp(path.join(tmpdir(), 'headgate-parts-'));
  const ui = path.join(root, 'dist/ui');
  await mkdir(path.join(ui, 'parts'), { recursive: true });
  for (const [name, text] of Object.entries(PARTS)) await writeFile(path.join(ui, 'parts', name), text);
  await packParts(path.join(ui, 'parts'));
  for (const name of ['ui/index.html', 'ui/licenses.txt', 'openapi.json'])
    for (const ending of ['', '.br', '.gzip']) await writeFile(path.join(root, 'dist', `${name}${ending}`), '');
  await writeFile(path.join(ui, 'csp.json'), '{"scripts":[],"styles":[]}');
  return {
    ui,
    load: () => loadAssets(pathToFileURL(`${root}/`)),
    [Symbol.asyncDispose]: () => rm(root, { recursive: true }),
  };
}

test('the parts of the page are read from one file, with their codings', async () => {
  await using build = await packed();
  const { pageParts } = build.load();
  const read = [...pageParts].map(
    ([
      name,
      {
        text,
        encoded: { br, gzip },
      },
    ]) => {
      assert.ok(br && gzip);
      return [name, String(text), String(brotliDecompressSync(br)), String(gunzipSync(gzip))];
    },
  );
  assert.deepEqual(
    read,
    Object.entries(PARTS)
      .sort()
      .map(([name, text]) => [name, text, text, text]),
  );
});

test('a part with the same text is taken from an earlier file, and everything else is compressed anew', async () => {
  await using build = await packed();
  const before = path.join(build.ui, 'parts.bin');
  const marked = Buffer.from(await readFile(before));
  marked.writeUInt8((marked.at(-1) ?? 0) ^ 1, marked.length - 1); // the last byte of the gzip of the last part
  await writeFile(before, marked);
  const again = async (changed: Record<string, string>) => {
    const folder = path.join(build.ui, 'again');
    await mkdir(folder);
    for (const [name, text] of Object.entries({ ...PARTS, ...changed })) await writeFile(path.join(folder, name), text);
    await packParts(folder, before);
    return readFile(`${folder}.bin`);
  };
  assert.ok((await again({})).equals(marked), 'nothing was compressed');
  const changed = await again({ 'chart-ffff.js': 'another chart' });
  assert.deepEqual(
    [changed.includes('another chart'), changed.at(-1)],
    [true, marked.at(-1)],
    'the other part is taken',
  );
  await writeFile(before, 'parts');
  const whole = await again({});
  assert.deepEqual([whole.length, whole.equals(marked)], [marked.length, false]);
});

for (const [what, damage] of [
  ['cut short', (bytes: Buffer) => bytes.subarray(0, -1)],
  ['longer than its list says', (bytes: Buffer) => Buffer.concat([bytes, Buffer.from('x')])],
  ['without a list', () => Buffer.from('parts')],
] as const) {
  test(`a file of parts that is ${what} is not served`, async () => {
    await using build = await packed();
    const file = path.join(build.ui, 'parts.bin');
    await writeFile(file, damage(await readFile(file)));
    assert.throws(build.load, StartError);
  });
}
