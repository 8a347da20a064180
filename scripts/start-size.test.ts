import assert from 'node:assert/strict';
import { test } from 'node:test';
import { build, type Metafile } from 'esbuild';
import { toCommandsBundle, toDaemonBundle, toEntryBundle } from './build.js';

/** What a start of the daemon imports of its bundle after `main.js`. */
const ENTRIES = ['src/cli/start-command.ts', 'src/daemon/start.ts'];

/** All of it stays in memory, and every start reads it. What is rarely used belongs in a chunk: `await import(…)`. */
const MOST_KB = 4_150;

/** A file takes a start about 0.4 ms to find, to read and to link. */
const MOST_FILES = 17;

test(`a start loads at most ${MOST_KB} kB of code in ${MOST_FILES} files`, async () => {
  const daemon = await bundle(toDaemonBundle());
  const main = await bundle(toEntryBundle([daemon, await bundle(toCommandsBundle())]));
  const loaded = loadedBy(daemon, ENTRIES);
  const files = [...Object.values(main.outputs), ...loaded.map((file) => daemon.outputs[file])];
  const kb = Math.ceil(files.reduce((sum, file) => sum + (file?.bytes ?? 0), 0) / 1000);
  assert.ok(kb <= MOST_KB, `a start loads ${kb} kB. The largest parts:\n${largestOf(daemon, loaded).join('\n')}`);
  assert.ok(files.length <= MOST_FILES, `a start loads ${files.length} files`);
});

async function bundle(options: object): Promise<Metafile> {
  const fixed = { format: 'esm', platform: 'node', logLevel: 'error', sourcemap: false, write: false } as const;
  const { metafile } = await build({ ...options, ...fixed, metafile: true });
  return metafile;
}

test('rare parts are not loaded by a start', async () => {
  const outputs: Metafile['outputs'] = {
    'main.js': { ...output('main.ts', 10), imports: [{ path: 'both.js', kind: 'import-statement' }] },
    'both.js': { ...output('', 20), imports: [{ path: 'rare.js', kind: 'dynamic-import' }] },
    'rare.js': output('rare.ts', 40),
  };
  assert.deepEqual(loadedBy({ inputs: {}, outputs }, ['main.ts']), ['main.js', 'both.js']);
});

const output = (entryPoint: string, bytes: number) => ({ entryPoint, bytes, inputs: {}, exports: [], imports: [] });

/** The files of the bundle that these entries load before anything else happens. */
function loadedBy({ outputs }: Metafile, entries: readonly string[]): string[] {
  const files = entries.map((entry) => Object.keys(outputs).find((file) => outputs[file]?.entryPoint === entry));
  const loaded = new Set(files.filter((file) => file !== undefined));
  assert.equal(loaded.size, entries.length, 'an entry of the bundle has another name');
  for (const file of loaded)
    for (const { kind, path } of outputs[file]?.imports ?? [])
      if (kind === 'import-statement' && outputs[path] !== undefined) loaded.add(path);
  return [...loaded];
}

/** Packages and folders by their size, such as `src/agent/tools`. */
function largestOf({ outputs }: Metafile, files: readonly string[]): string[] {
  const sizes = new Map<string, number>();
  for (const file of files) {
    for (const [input, { bytesInOutput }] of Object.entries(outputs[file]?.inputs ?? {})) {
      const part = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(input)?.[1] ?? input.split('/').slice(0, 3).join('/');
      sizes.set(part, (sizes.get(part) ?? 0) + bytesInOutput);
    }
  }
  const bySize = [...sizes].sort(([, a], [, b]) => b - a).slice(0, 20);
  return bySize.map(([part, bytes]) => `${String(Math.ceil(bytes / 1000)).padStart(6)} kB ${part}`);
}
