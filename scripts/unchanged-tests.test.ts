import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { unchangedTestsIn } from './unchanged-tests.js';

const FILES = {
  'package.json': '{}',
  'scripts/build.test.ts': 'globSync();',
  'src/a/one.test.ts': "import { one } from './one.ts';\ntest(one);",
  'src/a/one.ts': "export { two as one } from '../b/two.ts';",
  'src/b/two.ts': "export const two = () => new URL('./worker.ts', import.meta.url);",
  'src/b/worker.ts': 'work();',
  'src/b/two.test.ts': "const { two } = await import('./two.ts');\nfixture('fixtures/data.json');",
  'src/b/fixtures/data.json': '1',
  'src/b/docs.test.ts': "read('../../docs/guide.md');",
  'src/b/listed.test.ts': "globSync('src/**');",
  'src/whole.test.ts': 'judge();',
  'docs/guide.md': 'text',
};
const TESTS = Object.keys(FILES).filter((file) => file.endsWith('.test.ts'));
const CACHED = ['src/a/one.test.ts', 'src/b/two.test.ts'];

async function project(t: TestContext) {
  const root = await mkdtemp(path.join(tmpdir(), 'headgate-unchanged-'));
  t.after(() => rm(root, { recursive: true }));
  const write = async (file: string, text: string) => {
    await mkdir(path.dirname(path.join(root, file)), { recursive: true });
    await writeFile(path.join(root, file), text);
  };
  for (const [file, text] of Object.entries(FILES)) await write(file, text);
  const cache = path.join(root, 'node_modules/.cache/passed-tests.json');
  const listFiles = () => globSync('{src,docs,scripts}/**/*.*', { cwd: root }).concat('package.json');
  /** As a new run sees it. */
  const look = () => unchangedTestsIn({ root, cache, listFiles });
  return { write, look, notRun: () => TESTS.filter((file) => !look().divide(TESTS).changed.includes(file)) };
}

test('tests that passed are not run again; those that read the repository always are', async (t) => {
  const { look, notRun } = await project(t);
  assert.deepEqual(notRun(), []);
  look().keep(Object.fromEntries(TESTS.map((file) => [file, 3])));
  assert.deepEqual([notRun(), look().divide(TESTS).tests], [CACHED, 6]);
});

test('a test runs again when something that it uses has changed, directly or not', async (t) => {
  const { write, look, notRun } = await project(t);
  const after = async (file: string, text: string) => {
    look().keep({ 'src/a/one.test.ts': 1, 'src/b/two.test.ts': 1 });
    assert.deepEqual(notRun(), CACHED);
    await write(file, text);
    return notRun();
  };
  assert.deepEqual(await after('docs/guide.md', 'other'), CACHED);
  assert.deepEqual(await after('scripts/build.test.ts', 'globSync(1);'), CACHED);
  assert.deepEqual(await after('src/unused.ts', 'export {};'), CACHED);
  assert.deepEqual(await after('src/a/one.test.ts', "import './one.ts';"), ['src/b/two.test.ts']);
  assert.deepEqual(await after('src/a/one.ts', "export { two } from '../b/two.ts';"), ['src/b/two.test.ts']);
  assert.deepEqual(await after('src/b/worker.ts', 'rest();'), []);
  assert.deepEqual(await after('src/b/fixtures/data.json', '2'), []);
  assert.deepEqual(await after('package.json', '{"type": "module"}'), []);
});

test('what another file has kept stays, and files that import each other are no problem', async (t) => {
  const { write, look, notRun } = await project(t);
  await write('src/a/one.ts', "import './one.test.ts';");
  look().keep({ 'src/a/one.test.ts': 1 });
  look().keep({ 'src/b/two.test.ts': 1 });
  assert.deepEqual(notRun(), CACHED);
});
