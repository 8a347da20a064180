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
