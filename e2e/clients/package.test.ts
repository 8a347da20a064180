import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtempDisposable, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { launched } from '../support/clients/browser-profiles.ts';
import { startDaemon } from '../support/daemon/daemon.ts';
import { bundleUpToDate } from '../support/daemon/daemon-process.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);

/** A user's program, without Node's types. The marked lines must not compile. */
const PROGRAM = `
import { createGatewayClient, RequestError, type Result } from 'headgate/client';
import { createHttpClient, endpoints } from 'headgate/http';
const client = createGatewayClient({ url: 'ws://h', client: { name: 'n', version: '1', mode: 'web' } });
const { workstreams }: Result<'workstream.list'> = await client.call('workstream.list', {});
const names: string[] = workstreams.map(({ name }) => name);
// @ts-expect-error there is no such method
client.call('workstream.surprise', {});
// @ts-expect-error a key is required
client.call('chat.send', { sessionKey: 'main', message: names.join() });
client.on('tick', ({ ts }) => new Date(ts));
const sent = await createHttpClient({ baseUrl: 'http://h' }).call(endpoints.workstream.send, { message: 'm', ws_id: 'w' });
const status: 'ok' | 'busy' = sent.status;
// @ts-expect-error a file is not JSON: it is downloaded
createHttpClient({ baseUrl: 'http://h' }).call(endpoints.attachment.content, { ws_id: 'w', attachment_id: 'a' });
// @ts-expect-error there is no such field
sent.surprise;
export const codeOf = (error: unknown) => (error instanceof RequestError ? error.code : status);
`;

const OPTIONS = {
  strict: true,
  noEmit: true,
  module: 'nodenext',
  target: 'es2024',
  lib: ['es2024', 'dom', 'dom.iterable'],
  types: [],
  skipLibCheck: true,
};

test('a TypeScript program can use the types of both clients', async () => {
  await bundleUpToDate();
  await using folder = await mkdtempDisposable(path.join(tmpdir(), 'headgate-consumer-'));
  const place = (name: string) => path.join(folder.path, name);
  await run('mkdir', ['-p', place('node_modules')]);
  await symlink(ROOT, place('node_modules/headgate'));
  await writeFile(place('package.json'), '{"type":"module"}');
  await writeFile(place('tsconfig.json'), JSON.stringify({ compilerOptions: OPTIONS, include: ['program.ts'] }));
  await writeFile(place('program.ts'), PROGRAM);
  const { stdout } = await run(path.join(ROOT, 'node_modules/.bin/tsc'), ['-p', folder.path]).catch((error) => error);
  assert.equal(stdout, '');
});

test('the package contains every file it exports', async () => {
  await bundleUpToDate();
  const { stdout } = await run('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], { cwd: ROOT });
  const packed = new Set(JSON.parse(stdout)[0].files.map((file: { path: string }) => file.path));
  const { exports } = JSON.parse(await readFile(path.join(ROOT, 'package.json'), 'utf8'));
  const targets = [...JSON.stringify(Object.values(exports)).matchAll(/"\.\/((?:dist|protocol)\/[^"*]+\.\w+)"/g)].map(
    ([, file]) => file,
  );
  assert.equal(targets.length, 5);
  assert.deepEqual(
    [...targets, 'protocol/generated/asyncapi.json', 'docs/examples/ask.mjs', 'dist/sbom.cdx.json'].filter(
      (file) => !packed.has(file),
    ),
    [],
  );
});

/** Packages in the source maps of the bundles but the page's, independent of our own list. */
async function bundledPackages(): Promise<string[]> {
  const dist = path.join(ROOT, 'dist');
  const main = await readFile(path.join(dist, 'main.js'), 'utf8');
  const files = (await readdir(dist, { recursive: true })).filter((file) => /^(?!ui\/).*\.c?js$/.test(file));
  const current = await chunksReachedFrom(main, { dist });
  const maps = files.filter((file) => !isChunk(file) || current.has(file)).map((file) => `${file}.map`);
  const sources = await Promise.all(
    maps
      .filter((map) => !map.startsWith('clients/') && existsSync(path.join(dist, map)))
      .map(async (map) => sourcesIn(JSON.parse(await readFile(path.join(dist, map), 'utf8')))),
  );
  const names = sources.flat().flatMap((source) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(source)?.[1] ?? []);
  return [...new Set(names)].sort();
}

interface SourceMapText {
  sources?: string[];
  /** Of a script that was linked from several files. */
  sections?: { map: SourceMapText }[];
}

const sourcesIn = ({ sources = [], sections = [] }: SourceMapText): string[] => [
  ...sources,
  ...sections.flatMap(({ map }) => sourcesIn(map)),
];

/** Chunks of earlier builds may be next to those of this one. */
const isChunk = (file: string): boolean => /^(chunks|daemon)\//.test(file);

async function chunksReachedFrom(
  text: string,
  { dist, folder = '', found = new Set() }: { dist: string; folder?: string; found?: Set<string> },
): Promise<Set<string>> {
  for (const [, name = ''] of text.matchAll(/["']\.\/((?:chunks\/|daemon\/)?[\w-]+\.c?js)["']/g)) {
    const file = name.includes('/') ? name : `${folder}/${name}`;
    if (found.has(file) || !existsSync(path.join(dist, file))) continue;
    found.add(file);
    const text = await readFile(path.join(dist, file), 'utf8');
    await chunksReachedFrom(text, { dist, folder: path.dirname(file), found });
  }
  return found;
}

const namedIn = (licenses: string): string[] => [...licenses.matchAll(/^-{80}\n(\S+) /gm)].map(([, name = '']) => name);

test('the package contains the licences of all bundled code, and the page those of its imports', async () => {
  await bundleUpToDate();
  const bundled = await bundledPackages();
  assert.ok(bundled.includes('express') && bundled.includes('undici') && bundled.length > 80, bundled.join());
  const licenses = await readFile(path.join(ROOT, 'dist/THIRD-PARTY-LICENSES.txt'), 'utf8');
  const named = namedIn(licenses);
  assert.deepEqual(
    bundled.filter((name) => !named.includes(name)),
    [],
  );
  const ofDiagrams = gunzipSync(await readFile(path.join(ROOT, 'dist/ui/site/static-diagram-licenses.txt.gz')));
  const ofPage = namedIn(await readFile(path.join(ROOT, 'dist/ui/licenses.txt'), 'utf8')).concat(
    namedIn(ofDiagrams.toString()),
  );
  const { stdout } = await run(
    'grep',
    ['-rhoE', "from '[a-z@][^']*'", 'src/page', '--include=*.ts*', '--exclude=*.test.*'],
    {
      cwd: ROOT,
    },
  );
  const imported = [...stdout.matchAll(/from '((?:@[^/']+\/)?[^/']+)/g)].map(([, name = '']) => name);
  assert.deepEqual(
    [...new Set(imported)].filter((name) => !name.startsWith('node:') && !ofPage.includes(name)),
    [],
  );
});

/** Whoever adds a package raises this on purpose: each one is code that users run. */
const MOST_BUNDLED = 235;

test(`the SBOM names the packages of all licence texts, at most ${MOST_BUNDLED}`, async () => {
  await bundleUpToDate();
  const dist = path.join(ROOT, 'dist');
  const files = (await readdir(dist, { recursive: true })).filter((file) => /licenses\.txt(\.gz)?$/i.test(file));
  assert.equal(files.length, 5);
  const texts = await Promise.all(files.map((file) => readFile(path.join(dist, file))));
  const licensed = texts
    .map((text, at) => String(files[at]?.endsWith('.gz') === true ? gunzipSync(text) : text))
    .flatMap((text) => [...text.matchAll(/^-{80}\n(\S+ \S+) \(/gm)].map(([, one = '']) => one));
  const { components } = JSON.parse(await readFile(path.join(dist, 'sbom.cdx.json'), 'utf8'));
  const named: string[] = components.map(
    ({ group, name, version }: { group?: string; name: string; version: string }) =>
      `${group === undefined ? '' : `${group}/`}${name} ${version}`,
  );
  assert.deepEqual(named, [...new Set(licensed)].sort());
  assert.ok(named.length <= MOST_BUNDLED, `${named.length} packages are bundled`);
});

test('the archive takes at most 15 MB, and the installed package 31 MB, including dependencies', async () => {
  await bundleUpToDate();
  const { stdout } = await run('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], { cwd: ROOT });
  const [{ files, size }]: [{ files: { path: string; size: number }[]; size: number }] = JSON.parse(stdout);
  assert.ok(size <= 15_000_000, `the archive has ${size} bytes`);
  const dist = path.join(ROOT, 'dist');
  const chunks = await chunksReachedFrom(await readFile(path.join(dist, 'main.js'), 'utf8'), { dist });
  // Packing rebuilds; here chunks of earlier builds may exist.
  const packed = files.filter(({ path: file }) => !isChunk(file.slice('dist/'.length)) || chunks.has(file.slice(5)));
  const unpacked = packed.reduce((sum, { size }) => sum + size, 0);
  const { dependencies, scripts } = JSON.parse(await readFile(path.join(ROOT, 'package.json'), 'utf8'));
  assert.deepEqual(Object.keys(dependencies), ['zod'], 'everything else is bundled');
  assert.deepEqual(
    ['preinstall', 'install', 'postinstall', 'prepare'].filter((name) => name in scripts),
    [],
    'npm warns of scripts that run when a package is installed',
  );
  const { stdout: zod } = await run('du', ['-sb', 'node_modules/zod'], { cwd: ROOT });
  const bytes = unpacked + Number.parseInt(zod, 10);
  assert.ok(bytes <= 31_000_000, `${bytes} bytes`);
  const licenses = files.filter(({ path: file }) => /licenses\.txt$/i.test(file));
  assert.equal(licenses.length, 3);
});

test('a page of an allowed origin can use the daemon with the client file of the package', async () => {
  const script = await readFile(path.join(ROOT, 'dist/clients/client.js'));
  const site = createServer((request, response) => {
    const isScript = request.url === '/client.js';
    response.setHeader('Content-Type', isScript ? 'text/javascript' : 'text/html');
    response.end(isScript ? script : '<title>A page</title>');
  });
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
  await using daemon = await startDaemon({ config: { server: { allowedOrigins: [origin] } } });
  const page = await (await launched()).newPage();
  try {
    await page.goto(`${origin}/`);
    const answer = await page.evaluate(
      `import('/client.js').then(async ({ createGatewayClient }) => {
        const client = createGatewayClient({
          url: '${daemon.wsUrl}', token: '${daemon.token}', client: { name: 'page', version: '1', mode: 'web' },
        });
        const { protocol } = await client.connect();
        const { status } = await client.call('health');
        client.close();
        return { protocol, status };
      })`,
    );
    assert.deepEqual(answer, { protocol: 2, status: 'ok' });
  } finally {
    await page.close();
    site.close();
  }
});
