import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { SourceMap } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { linkScript } from './link-script.js';

const folder = await mkdtemp(path.join(tmpdir(), 'headgate-link-'));
after(() => rm(folder, { recursive: true, force: true }));
let bundles = 0;

/** Bundles these sources as the build does, and links `entry.ts` with what it imports. */
async function linked(sources: Record<string, string>, entries = ['entry.ts']) {
  bundles += 1;
  const root = path.join(folder, String(bundles));
  await mkdir(root);
  for (const [name, text] of Object.entries(sources)) await writeFile(path.join(root, name), text);
  const loader = fileURLToPath(new URL('../src/home/compiled-script.ts', import.meta.url));
  const common = {
    absWorkingDir: root,
    bundle: true,
    format: 'esm',
    platform: 'node',
    sourcemap: true,
    write: false,
    metafile: true,
  } as const;
  const banner = {
    js: "import { createRequire as __createRequire } from 'node:module';\nconst require = __createRequire(import.meta.url);",
  };
  const chunks = { splitting: true, entryNames: 'chunks/[name]-[hash]', chunkNames: 'chunks/[name]-[hash]' };
  const bundle = await build({ ...common, ...chunks, banner, entryPoints: ['entry.ts'], outdir: 'dist' });
  const ofLoader = await build({ ...common, entryPoints: { loader }, outdir: 'dist' });
  const files = new Map(
    [...bundle.outputFiles, ...ofLoader.outputFiles].map((file) => [path.relative(root, file.path), file.text]),
  );
  const replaced = linkScript({ files, outputs: bundle.metafile.outputs, entries, loader: 'dist/loader.js' });
  for (const [name, text] of [...files, ...replaced]) {
    await mkdir(path.dirname(path.join(root, name)), { recursive: true });
    await writeFile(path.join(root, name), text);
  }
  const entry =
    [...replaced.keys()].find((name) => name.startsWith('dist/chunks/entry-') && name.endsWith('.js')) ?? '';
  return { load: () => import(pathToFileURL(path.join(root, entry)).href), replaced };
}

const SHARED = `import { join } from 'node:path'; import * as os from 'node:os'; import url from 'node:url';
  export class Shared { where = join('a', 'b'); kinds = [typeof os.cpus, typeof url.parse]; }
  export default 'usual'; export const later = () => import('./later.ts');`;
const LATER = `import usual, { Shared } from './shared.ts'; export { usual, Shared as same };`;

test('a script exports what its modules did, and modules that it loads later get the same objects', async () => {
  const { load } = await linked({
    'entry.ts': `import { Shared, later } from './shared.ts';
      const first = before(); export function before() { return new Shared(); }
      export { first, later, Shared };`,
    'shared.ts': SHARED,
    'later.ts': LATER,
  });
  const entry = await load();
  const later = await entry.later();
  assert.equal(later.same, entry.Shared);
  assert.equal(later.usual, 'usual');
  assert.deepEqual({ ...entry.first }, { where: path.join('a', 'b'), kinds: ['function', 'function'] });
  assert.equal(typeof entry.keepCode, 'function');
});

test('CommonJS in a script requires modules of Node', async () => {
  const { load } = await linked({
    'entry.ts': `import { name } from './old.cjs'; export { name };`,
    'old.cjs': `exports.name = require('node:path').basename('a/b');`,
  });
  assert.equal((await load()).name, 'b');
});

test('the source map leads to the line and column of a source', async () => {
  const { replaced } = await linked({
    'entry.ts': `import { later } from './shared.ts';\n\nexport const fails = () => {\n  throw new Error('here');\n};\nexport { later };\n`,
    'shared.ts': SHARED,
    'later.ts': LATER,
  });
  const [script = '', text = ''] = [...replaced].find(([name]) => name.endsWith('.cjs')) ?? [];
  const lines = text.split('\n');
  const line = lines.findIndex((one: string) => one.includes('new Error("here")'));
  const map = new SourceMap(JSON.parse(replaced.get(`${script}.map`) ?? ''));
  const entry = map.findEntry(line, lines[line]?.indexOf('throw') ?? 0);
  assert.ok('originalSource' in entry);
  assert.deepEqual([path.basename(entry.originalSource), entry.originalLine, entry.originalColumn], ['entry.ts', 3, 2]);
});

for (const [what, sources, problem] of [
  ['waits at its top level', { 'entry.ts': 'export const a = await Promise.resolve(1);' }, /await/],
  [
    'assigns to what it exports',
    { 'entry.ts': 'export let a = 1; export const more = () => { a += 1; };' },
    /a is exported and assigned again/,
  ],
  [
    'counts in what it exports',
    { 'entry.ts': 'export let a = 1; export const more = () => a++;' },
    /a is exported and assigned again/,
  ],
] as const)
  test(`a module that ${what} cannot be linked`, async () => {
    await assert.rejects(linked(sources), problem);
  });

test('an entry that the bundle does not have is an error', async () => {
  await assert.rejects(
    linked({ 'entry.ts': 'export const a = 1;' }, ['other.ts']),
    /other\.ts is no entry of the bundle/,
  );
});
