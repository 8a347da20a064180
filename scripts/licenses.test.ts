import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { tempDir } from '../src/testing/temp-store.ts';
import { mergePackages, readPackages, toLicenseText } from './licenses.js';

async function place(folder: string, files: Record<string, string>): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const [name, text] of Object.entries(files)) await writeFile(path.join(folder, name), text);
}

const manifest = (name: string, license: string) => JSON.stringify({ name, version: '1.2.3', license });

test('each bundled package is listed once, with its licence and notice', async () => {
  using root = tempDir();
  const at = (name: string) => path.join(root.path, 'node_modules', name);
  await place(at('b'), { 'package.json': manifest('b', 'MIT'), LICENSE: 'Text of b.\n', 'NOTICE.md': 'Notice of b.' });
  await place(at('@s/a'), { 'package.json': manifest('@s/a', 'ISC'), 'licence.txt': 'Text of a.' });
  await place(at('b/node_modules/c'), { 'package.json': manifest('c', 'Apache-2.0') });
  const files = [at('b/x.js'), at('b/lib/y.js'), at('@s/a/index.js'), at('b/node_modules/c/z.js'), '/our/own.ts'];
  const text = toLicenseText(await readPackages(files));
  const [, ...entries] = text.split(/-{80}\n/);
  assert.deepEqual(entries.slice(0, 2), [
    '@s/a 1.2.3 (ISC)\n\nText of a.\n\n',
    'b 1.2.3 (MIT)\n\nText of b.\n\nNotice of b.\n\n',
  ]);
  assert.match(entries[2] ?? '', /^c 1\.2\.3 \(Apache-2\.0\)\n\n *Apache License/);
});

test('a package under the MIT licence without its text gets it with its author', async () => {
  using root = tempDir();
  const folder = path.join(root.path, 'node_modules/x');
  const named = { ...JSON.parse(manifest('x', 'MIT')), author: { name: 'Ada' } };
  await place(folder, { 'package.json': JSON.stringify(named) });
  assert.match(toLicenseText(await readPackages([path.join(folder, 'a.js')])), /MIT License\n\nCopyright \(c\) Ada\n/);
});

test('a package without a licence, or whose licence text cannot be found, stops the build', async () => {
  using root = tempDir();
  const at = (name: string) => path.join(root.path, 'node_modules', name);
  await place(at('x'), { 'package.json': manifest('x', 'MIT') });
  await place(at('y'), { 'package.json': '{"name":"y","version":"1.2.3"}', LICENSE: 'Text of y.' });
  await assert.rejects(readPackages([`${at('x')}/a.js`]), /^Error: x 1\.2\.3 \(MIT\) has no licence text$/);
  await assert.rejects(readPackages([`${at('y')}/a.js`]), /^Error: y 1\.2\.3 names no licence$/);
});

test('lists of packages are merged by name and version', () => {
  const named = (name: string, version: string) => ({ name, version });
  const packages = [named('b', '1.0.0'), named('a', '2.0.0'), named('b', '1.0.0'), named('a', '1.0.0')];
  assert.deepEqual(mergePackages(packages), [named('a', '1.0.0'), named('a', '2.0.0'), named('b', '1.0.0')]);
});
