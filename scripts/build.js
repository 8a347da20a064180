// Builds dist/: the bundles of the daemon and its workers, the page, the OpenAPI document, the clients of the package and its SBOM. Everything is built in a
// temporary folder and renamed into place, the entry last, so that readers of dist/ see complete old or new files.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { bundledBefore, loadedFrom, PLUGINS } from './bundle-plugins.js';
import { readPackages, toLicenseText } from './licenses.js';
import { linkScript } from './link-script.js';
import { moveInto } from './move-into.js';
import { precompress } from './precompress.js';
import { keepPackages, writeSbom } from './sbom.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const DIST = path.join(ROOT, 'dist');
const LICENSES = 'THIRD-PARTY-LICENSES.txt';

/** The sources of each part, and how to build it, which returns the packages in it. A part is rebuilt only if its sources have changed. */
const PARTS = {
  server: {
    sources: [
      'src',
      'protocol',
      'scripts/build.js',
      'scripts/bundle-plugins.js',
      'scripts/default-config.js',
      'scripts/late-schemas.js',
      'scripts/lazy-shapes.js',
      'scripts/less-zod.js',
      'scripts/licenses.js',
      'scripts/link-script.js',
      'scripts/newest-schema.js',
      'scripts/precompress.js',
      'scripts/sbom.js',
      'package-lock.json',
      'tsconfig.json',
    ],
    skip: (file) => file.startsWith('src/page/') || isTest(file),
    build: buildServer,
  },
  page: {
    sources: [
      'src/page',
      'protocol',
      'scripts/build-page.js',
      'scripts/build-site.js',
      'scripts/licenses.js',
      'scripts/page',
      'scripts/precompress.js',
      'vite.config.ts',
      'package-lock.json',
    ],
    skip: isTest,
    build: buildPage,
  },
  clients: {
    sources: [
      'protocol',
      'scripts/build.js',
      'scripts/licenses.js',
      'package-lock.json',
      'tsconfig.json',
      'tsconfig.clients.json',
    ],
    skip: (file) => file.startsWith('protocol/generated/') || isTest(file),
    build: buildClients,
  },
};

/** Builds the outdated parts of `dist`; with `ifStale: false`, all parts. Returns the names of the built parts. */
export async function build({ ifStale }) {
  const built = [];
  for (const [name, part] of Object.entries(PARTS)) {
    const stamp = path.join(DIST, `.${name}.stamp`);
    const digest = await digestOf(part);
    if (ifStale && (await readFile(stamp, 'utf8').catch(() => '')) === digest) continue;
    await mkdir(DIST, { recursive: true });
    const aside = await mkdtemp(path.join(DIST, `.${name}-`));
    try {
      await keepPackages(aside, name, await part.build(aside));
      await moveInto(aside, DIST);
      await writeFile(stamp, digest);
    } finally {
      await rm(aside, { recursive: true, force: true });
    }
    built.push(name);
  }
  if (built.length > 0) await writeSbom(DIST, Object.keys(PARTS));
  return built;
}

/** A digest that changes if a file is changed, added or removed. */
async function digestOf({ sources, skip }) {
  const files = (await Promise.all(sources.map(listFiles))).flat().filter((file) => !skip(file));
  const stats = await Promise.all(
    files.map(async (file) => {
      const { size, mtimeMs } = await stat(path.join(ROOT, file));
      return `${file} ${size} ${mtimeMs}\n`;
    }),
  );
  return createHash('sha256').update(stats.sort().join('')).digest('hex');
}

async function listFiles(source) {
  const entries = await readdir(path.join(ROOT, source), { recursive: true, withFileTypes: true }).catch((error) => {
    if (error.code === 'ENOTDIR') return undefined;
    throw error;
  });
  if (entries === undefined) return [source];
  const files = entries.filter((entry) => entry.isFile());
  return files.map((entry) => path.relative(ROOT, path.join(entry.parentPath, entry.name)));
}

function isTest(file) {
  return /\.(test|contract)\.tsx?$|\/testing\/|\/fixtures\//.test(file);
}

async function buildServer(outdir) {
  const { build: bundle } = await import('esbuild');
  const bundles = await Promise.all(
    [
      ...[toDaemonBundle(), toCommandsBundle(), toWorkerBundle(), toLibraryWorkerBundle()],
      ...[toScriptBundle(), toSharedBundle()],
    ].map(bundle),
  );
  bundles.push(await bundle(toEntryBundle(bundles.map(({ metafile }) => metafile))));
  const files = new Map(bundles.flatMap(({ outputFiles }) => outputFiles).map(toText));
  const daemon = { files, outputs: bundles[0].metafile.outputs, entries: START_ENTRIES, loader: `dist/${LOADER}.js` };
  const linked = linkScript(daemon);
  for (const file of linked.keys()) files.delete(`${file}.map`); // the script's own has them
  for (const [file, text] of [...files, ...linked]) {
    const aside = path.join(outdir, path.relative('dist', file));
    await mkdir(path.dirname(aside), { recursive: true });
    await writeFile(aside, text);
  }
  await writeFile(path.join(outdir, 'webp-decoder.wasm'), await readFile(path.join(ROOT, WEBP_DECODER)));
  const packages = await writeLicenses(path.join(outdir, LICENSES), bundles);
  const openapi = JSON.parse(await readFile(path.join(ROOT, 'protocol/generated/openapi.json'), 'utf8'));
  await writeFile(path.join(outdir, 'openapi.json'), JSON.stringify(openapi));
  await precompress(path.join(outdir, 'openapi.json'));
  return packages;
}

/**
 * How esbuild bundles the daemon, and the other commands. Separately, because everything that the daemon shares with some of them would
 * be in another small file: 60 in all, which took a start 30 ms to find and to link.
 */
export const toDaemonBundle = () => toSplitBundle('src/cli/start-command.ts', 'daemon');
export const toCommandsBundle = () => toSplitBundle('src/cli/program.ts', 'chunks');

const toSplitBundle = (entry, folder) => ({
  ...toServerBundle(),
  entryPoints: [entry],
  splitting: true,
  entryNames: `${folder}/[name]-[hash]`,
  chunkNames: `${folder}/[name]-[hash]`,
  plugins: [loadedFrom(`../${SHARED}.js`, SHARED), ...PLUGINS],
});

/** The largest package that both of them load at its first use. It is in one file for both, which saves a megabyte. */
const SHARED = 'undici';
const toSharedBundle = () => ({ ...toServerBundle(), entryPoints: { [SHARED]: SHARED } });

/** What a start runs, as one script. */
const START_ENTRIES = ['src/cli/start-command.ts', 'src/daemon/start.ts'];
const LOADER = 'compiled-script';
const toScriptBundle = () => ({ ...toServerBundle(), entryPoints: { [LOADER]: 'src/home/compiled-script.ts' } });

const toText = (file) => [path.relative(ROOT, file.path), file.path.endsWith('.js') ? toAscii(file.text) : file.text];

/** How esbuild bundles `main.js`, which imports one of those bundles by the names of their files. */
export const toEntryBundle = (metafiles) => ({
  ...toServerBundle(),
  entryPoints: { main: 'src/cli/main.ts' },
  plugins: [bundledBefore(metafiles, ROOT), ...PLUGINS],
});

/** What `image-worker` runs, which cannot be bundled. */
const WEBP_DECODER = 'node_modules/@jsquash/webp/codec/dec/webp_dec.wasm';

/** The workers that are mostly libraries. Their maps have no sources, which would take more space than the daemon. */
const toLibraryWorkerBundle = () => ({
  ...toServerBundle(),
  sourcesContent: false,
  entryPoints: {
    'page-worker': 'src/agent/tools/web/page-worker.ts',
    'pdf-worker': 'src/agent/tools/documents/pdf-worker.ts',
    'output-worker': 'src/agent/output/output-worker.ts',
    'image-worker': 'src/cli/terminal/images/image-worker.ts',
  },
});

/** How esbuild bundles the other workers of the daemon; `npm run dev` rebuilds them. */
export const toWorkerBundle = () => ({
  ...toServerBundle(),
  entryPoints: {
    'search-worker': 'src/agent/tools/search/search-worker.ts',
    'snapshot-worker': 'src/agent/checkpoints/snapshot-worker.ts',
    'checkpoint-worker': 'src/gateway/store/sqlite/checkpoint-worker.ts',
    'password-worker': 'src/gateway/users/password-worker.ts',
  },
});

const toServerBundle = () => ({
  absWorkingDir: ROOT,
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node24',
  sourcemap: true,
  metafile: true,
  // Short lines, so that the line in a stack trace is useful.
  minifySyntax: true,
  minifyWhitespace: true,
  lineLimit: 160,
  logLevel: 'warning',
  // The final place of the files, because source maps name their sources relative to it.
  outdir: DIST,
  write: false,
  plugins: PLUGINS,
  // CommonJS packages call require() for Node's modules.
  banner: {
    js: "import { createRequire as __createRequire } from 'node:module';\nconst require = __createRequire(import.meta.url);",
  },
});

/**
 * Escapes the characters that esbuild leaves in regular expressions. A single one would make V8 keep the whole source with
 * two bytes per character.
 */
const toAscii = (source) =>
  source.replaceAll(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

async function buildPage(outdir) {
  const page = await import('./build-page.js');
  return page.buildPage(path.join(outdir, 'ui'));
}

/** Builds `headgate/client` and `headgate/http`: one file each, without imports, and the types of both. */
async function buildClients(outdir) {
  const { build: bundle } = await import('esbuild');
  const clients = await bundle({
    absWorkingDir: ROOT,
    metafile: true,
    entryPoints: ['client', 'http'].map((name) => `protocol/client/exports/${name}.ts`),
    outdir: path.join(outdir, 'clients'),
    bundle: true,
    format: 'esm',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    target: 'es2022',
    logLevel: 'warning',
  });
  const packages = await writeLicenses(path.join(outdir, 'clients', LICENSES), [clients]);
  // `npm run check` checks the types; an error here would only keep a daemon from starting.
  const compiler = path.join(ROOT, 'node_modules/.bin/tsc');
  const types = ['--outDir', path.join(outdir, 'clients/types')];
  await promisify(execFile)(compiler, ['-p', path.join(ROOT, 'tsconfig.clients.json'), '--noCheck', ...types]);
  return packages;
}

/** Returns the packages of the bundles. */
async function writeLicenses(file, bundles) {
  const files = bundles.flatMap(({ metafile }) => Object.keys(metafile.inputs));
  const packages = await readPackages(files.map((input) => path.resolve(ROOT, input)));
  await writeFile(file, toLicenseText(packages));
  return packages;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const options = process.argv.slice(2);
  const unknown = options.find((option) => option !== '--if-stale' && option !== '--clean');
  if (unknown !== undefined) {
    process.stderr.write(`build: unknown option ${unknown}. Options: --if-stale, --clean\n`);
    process.exit(2);
  }
  const startMs = performance.now();
  if (options.includes('--clean')) await rm(DIST, { recursive: true, force: true });
  const built = await build({ ifStale: options.includes('--if-stale') });
  const seconds = ((performance.now() - startMs) / 1000).toFixed(1);
  if (built.length > 0) process.stderr.write(`built ${built.join(' and ')} in ${seconds} s\n`);
}
