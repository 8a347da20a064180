import assert from 'node:assert/strict';
import { globSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { findDependencySpreads } from './testing/dependency-spreads.ts';

const ROOT = path.resolve(import.meta.dirname, '..');

/** Rooms that any room of the server may import; `src` means the files of src/ itself. */
const LEAVES = [
  'protocol',
  'src',
  'src/timing',
  'src/lending',
  'src/home',
  'src/egress',
  'src/content',
  'src/markdown',
];

/** Which folder may import which. All other imports are errors. */
const MAY_IMPORT: Record<string, readonly string[]> = {
  protocol: [],
  src: ['protocol'],
  'src/timing': ['protocol', 'src'],
  'src/lending': ['protocol', 'src'],
  'src/home': ['protocol', 'src'],
  'src/egress': ['protocol', 'src'],
  'src/content': ['protocol', 'src'],
  'src/markdown': [],
  'src/testing': [...LEAVES, 'src/agent', 'src/cron', 'src/gateway'],
  'src/agent': LEAVES,
  'src/bus': LEAVES,
  'src/cron': LEAVES,
  'src/gateway': [...LEAVES, 'src/agent', 'src/bus', 'src/cron'],
  'src/http': [...LEAVES, 'src/gateway'],
  'src/page': ['protocol', 'src/markdown'],
  'src/conformance': LEAVES,
  'src/node-host': [...LEAVES, 'src/agent'],
  'src/daemon': [...LEAVES, 'src/agent', 'src/bus', 'src/cron', 'src/gateway', 'src/http'],
  'src/cli': [...LEAVES, 'src/cron', 'src/node-host', 'src/conformance', 'src/daemon'],
};

/** The command line starts the daemon, backs its home up, copies its store, and checks what a daemon would use, which returns findings. */
const DAEMON_DOORS = [
  'src/daemon/start.ts',
  'src/daemon/backup/backup.ts',
  'src/daemon/store/migrate-store.ts',
  'src/daemon/checkup.ts',
  'src/daemon/checkup/finding.ts',
];

/** Layers: each holds one file per noun, named after it, so that a noun has the same file name in all of them. */
const LAYERS = [
  'protocol/events',
  'protocol/http',
  'protocol/methods',
  'src/gateway/methods',
  'src/http/routes',
  'src/cli/commands',
  'src/conformance/cases',
];

/** With more source files, a folder is hard to survey. */
const MOST_FILES = 20;

/** Folders only for tests: they may import what a test needs, and only tests may import them. */
const isTestCode = (file: string): boolean =>
  /\.(test|contract)\.tsx?$|(^|\/)(testing|fixtures|gallery)\/|(^|\/)fake-[^/]*$|-fixture\.ts$/.test(file);

const sources = Object.keys(MAY_IMPORT).flatMap(sourcesIn);
const product = sources.filter((file) => !isTestCode(file));

for (const [folder, allowed] of Object.entries(MAY_IMPORT)) {
  test(`${folder} imports only ${allowed.join(', ') || 'packages'}`, () => {
    const imports = product
      .filter((file) => folderOf(file) === folder)
      .flatMap((file) => localImportsOf(file).map((target) => `${file} → ${target}`));
    const wrong = imports.filter((line) => ![folder, ...allowed].includes(folderOf(line.split(' → ')[1] ?? '')));
    assert.deepEqual(wrong, []);
  });
}

test('only the store reads events and messages from their tables, because it compares their checksums', () => {
  const elsewhere = product.filter((file) => !file.startsWith('src/gateway/store/'));
  const wrong = elsewhere.filter((file) =>
    /selectFrom\('(events|messages)'\)/.test(readFileSync(path.join(ROOT, file), 'utf8')),
  );
  assert.deepEqual(wrong, []);
});

test('every source belongs to a folder of the table', () => {
  assert.deepEqual(new Set(sources.map(folderOf)), new Set(Object.keys(MAY_IMPORT)));
});

test('the product imports no test code', () => {
  const wrong = product.flatMap((file) =>
    localImportsOf(file)
      .filter(isTestCode)
      .map((target) => `${file} → ${target}`),
  );
  assert.deepEqual(wrong, []);
});

test('protocol imports only packages that run in a browser', () => {
  const atRunTime = product.filter(
    (file) => file.startsWith('protocol/') && file !== 'protocol/documents/documents.ts',
  );
  const packages = atRunTime.flatMap(packagesOf);
  const allowed = ['zod', 'eventsource-parser'];
  assert.deepEqual(
    [...new Set(packages)].filter((name) => !allowed.includes(name)),
    [],
  );
});

test('every name that protocol exports has a docstring', () => {
  const undocumented = product.filter((file) => file.startsWith('protocol/')).flatMap(undocumentedIn);
  assert.deepEqual(undocumented, []);
});

for (const [name, homes] of Object.entries({
  ws: ['src/gateway/server.ts', 'src/cli/connect.ts'],
  express: ['src/http/'],
  '@nats-io/transport-node': ['src/bus/nats-connection.ts'],
})) {
  test(`only ${homes.join(' and ')} imports ${name}`, () => {
    const importers = product.filter((file) => packagesOf(file).includes(name));
    assert.deepEqual(
      importers.filter((file) => !homes.some((home) => file.startsWith(home))),
      [],
    );
    assert.notDeepEqual(importers, []);
  });
}

test('the command line imports only the entry points of the daemon', () => {
  const entered = product
    .filter((file) => folderOf(file) === 'src/cli')
    .flatMap((file) => localImportsOf(file).filter((target) => folderOf(target) === 'src/daemon'));
  assert.deepEqual([...new Set(entered)].sort(), DAEMON_DOORS.toSorted());
});

test('no imports are circular, not even imports of types', () => {
  assert.deepEqual(circlesOf(new Map(sources.map((file) => [file, localImportsOf(file)]))), []);
});

test('a circular import is found', () => {
  const imports = { a: ['b'], b: ['c', 'd'], c: ['a'], d: ['e'], e: [] };
  assert.deepEqual(circlesOf(new Map(Object.entries(imports))), ['a → b → c → a']);
});

test(`no folder holds more than ${MOST_FILES} source files`, () => {
  const folders = Map.groupBy(product, (file) => path.dirname(file));
  const full = [...folders].filter(([, files]) => files.length > MOST_FILES);
  assert.deepEqual(
    full.map(([folder, files]) => `${folder}: ${files.length}`),
    [],
  );
});

test('no two files of one layer have the same name, and none outside the layers of a room', () => {
  const layerOf = (file: string) => LAYERS.find((folder) => file.startsWith(`${folder}/`)) ?? folderOf(file);
  const places = Map.groupBy(product, (file) => `${layerOf(file)}: ${path.basename(file).replace(/\.tsx?$/, '')}`);
  const twice = [...places].filter(([, files]) => files.length > 1);
  assert.deepEqual(
    twice.map(([, files]) => files.join(' and ')),
    [],
  );
});

test('composition names what each part gets: no spreads of dependencies or options', () => {
  const wrong = product.flatMap((file) =>
    findDependencySpreads(file, readFileSync(path.join(ROOT, file), 'utf8')).map((spread) => `${file}: ${spread}`),
  );
  assert.deepEqual(wrong, []);
});

test('files named in documents exist', () => {
  const pages = ['CONTRIBUTING.md', 'bench/README.md', ...globSync('decisions/*.md', { cwd: ROOT })];
  const names = new Set(globSync('{src,protocol,e2e,bench,scripts,bin}/**/*.*', { cwd: ROOT }));
  const baseNames = new Set([...names].map((name) => path.basename(name)));
  const missing = pages.flatMap((page) => {
    const text = readFileSync(path.join(ROOT, page), 'utf8');
    const named = [...text.matchAll(/`([\w./-]+\.tsx?)`/g)].map(([, name = '']) => name);
    const isThere = (name: string) =>
      name.includes('/') ? [...names].some((known) => known.endsWith(name)) : baseNames.has(name);
    return named.filter((name) => !isThere(name)).map((name) => `${page}: ${name}`);
  });
  assert.deepEqual(missing, []);
});

test('no file has an empty name such as utils', () => {
  const empty = /^(utils?|helpers?|common|misc|shared|manager|base|types?|index)(\.test)?\.tsx?$/;
  const wrong = sources.filter((file) => empty.test(path.basename(file)));
  assert.deepEqual(wrong, ['protocol/index.ts', 'protocol/http/index.ts']); // the tables
});

test('a noun has the same file name in the protocol and in the gateway', () => {
  const nouns = (folder: string) =>
    readdirSync(path.join(ROOT, folder)).filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'));
  assert.deepEqual(nouns('src/gateway/methods').sort(), nouns('protocol/methods').sort());
});

test('an endpoint’s file name is a noun of the protocol', () => {
  const nouns = new Set(readdirSync(path.join(ROOT, 'protocol/http')));
  const routes = readdirSync(path.join(ROOT, 'src/http/routes')).filter((name) => !name.endsWith('.test.ts'));
  assert.deepEqual(
    routes.filter((name) => !nouns.has(name)),
    [],
  );
});

test('type assertions become fewer, never more', () => {
  const most = 27;
  const counts = product.flatMap((file) => {
    const count = assertionsIn(readFileSync(path.join(ROOT, file), 'utf8'));
    return count === 0 ? [] : [`${file}: ${count}`];
  });
  const total = counts.reduce((sum, line) => sum + Number(line.split(': ')[1]), 0);
  assert.ok(total <= most, `${total} type assertions where ${most} were allowed:\n${counts.join('\n')}`);
});

/** Counts `x as T`, but not `as const`, renaming imports and exports, or prose. */
function assertionsIn(source: string): number {
  const code = source
    .replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '')
    .replaceAll(/'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/g, "''")
    .replaceAll(/(?:import|export)\b[^;]*?\bfrom\b/g, '')
    .replaceAll(/>[^<>{}]*</g, '><'); // text of JSX
  return [...code.matchAll(/[\w)\]}>] as (?!const\b)[\w{[(]/g)].length;
}

/** Exported names without a docstring. The type of a schema shares the schema's name and docstring. */
function undocumentedIn(file: string): string[] {
  const lines = readFileSync(path.join(ROOT, file), 'utf8').split('\n');
  return lines.flatMap((line, at) => {
    const [, name] = /^export (?:async )?(?:const|function|class|interface|type) (\w+)/.exec(line) ?? [];
    const isDocumented = lines[at - 1]?.endsWith('*/') || /^export type (\w+) = z\.\w+<typeof \1>;/.test(line);
    return name === undefined || isDocumented ? [] : [`${file}: ${name}`];
  });
}

/** Each circle once, starting with the first of its files that was visited. */
function circlesOf(imports: ReadonlyMap<string, readonly string[]>): string[] {
  const circles: string[] = [];
  const done = new Set<string>();
  const visit = (file: string, way: readonly string[]) => {
    const start = way.indexOf(file);
    if (start >= 0) circles.push([...way.slice(start), file].join(' → '));
    if (start >= 0 || done.has(file)) return;
    for (const target of imports.get(file) ?? []) visit(target, [...way, file]);
    done.add(file);
  };
  for (const file of imports.keys()) visit(file, []);
  return circles;
}

function sourcesIn(folder: string): string[] {
  const recursive = folder !== 'src';
  const names = readdirSync(path.join(ROOT, folder), { recursive, encoding: 'utf8' });
  const files = names.filter((name) => /\.tsx?$/.test(name)).map((name) => path.join(folder, name));
  return files.filter((file) => folderOf(file) === folder);
}

function localImportsOf(file: string): string[] {
  return specifiersOf(file)
    .filter((name) => name.startsWith('.'))
    .map((name) => path.join(path.dirname(file), name));
}

function packagesOf(file: string): string[] {
  const names = specifiersOf(file).filter((name) => !name.startsWith('.') && !name.startsWith('node:'));
  return names.map((name) =>
    name
      .split('/')
      .slice(0, name.startsWith('@') ? 2 : 1)
      .join('/'),
  );
}

function specifiersOf(file: string): string[] {
  const source = readFileSync(path.join(ROOT, file), 'utf8');
  return [...source.matchAll(/(?<![./])\b(?:from|import) ?\(?'([^']+)'/g)].map(([, name = '']) => name);
}

/** The longest folder of the table that contains the file. */
function folderOf(file: string): string {
  const holds = (folder: string) => (folder === 'src' ? path.dirname(file) === 'src' : file.startsWith(`${folder}/`));
  return (
    Object.keys(MAY_IMPORT)
      .filter(holds)
      .sort((a, b) => b.length - a.length)[0] ?? path.dirname(file)
  );
}
