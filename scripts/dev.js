// `npm run dev`: runs the daemon from its sources and restarts it when they change, and rebuilds the page, the gallery of its components (/static/gallery.html) and the workers when theirs change.
// Arguments after `--` go to `headgate start`.
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { context } from 'esbuild';
import { build as buildVite } from 'vite';
import { build, toWorkerBundle } from './build.js';
import { watchGallery } from './page/gallery.js';
import { PARTS } from './page/inline-page.js';
import { packParts } from './page/pack-parts.js';
import { precompress } from './precompress.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const DIST = path.join(ROOT, 'dist');
const PAGE = path.join(DIST, 'ui');
/** The last file of the page to be replaced. */
const LAST = 'index.html';

await build({ ifStale: true });
const aside = await mkdtemp(path.join(DIST, '.dev-page-'));
const workerBundle = toWorkerBundle();
const workers = await watchWorkers();
const page = await watchPage();
const gallery = await watchGallery(PAGE);
const daemon = watchDaemon(process.argv.slice(2));
// tsx kills the daemon at the second signal, but both a terminal and npm send Ctrl-C. So tsx runs in a separate group and
// gets one signal; it ends within five seconds.
let isStopping = false;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => {
    if (!isStopping) daemon.kill('SIGTERM');
    isStopping = true;
  });
}
daemon.once('exit', async (code) => {
  await Promise.all([page.close(), workers.dispose(), gallery.dispose()]);
  await rm(aside, { recursive: true, force: true });
  process.exitCode = code ?? 0;
});

/**
 * tsx runs the daemon with its own Node, which npm installed in node_modules. The daemon also restarts for a new page or
 * worker, because it reads them when it starts.
 */
function watchDaemon(args) {
  const tsx = fileURLToPath(import.meta.resolve('tsx/cli'));
  const workerFiles = Object.keys(workerBundle.entryPoints).map((name) => path.join(DIST, `${name}.js`));
  const included = [path.join(PAGE, LAST), ...workerFiles].flatMap((file) => ['--include', file]);
  return spawn(
    process.execPath,
    [tsx, 'watch', '--clear-screen=false', ...included, 'scripts/dev-daemon.ts', 'start', ...args],
    {
      cwd: ROOT,
      detached: true,
      stdio: ['ignore', 'inherit', 'inherit'],
    },
  );
}

/** Bundles the workers whenever their sources change. */
async function watchWorkers() {
  const putInPlace = {
    name: 'put-in-place',
    setup({ onEnd }) {
      onEnd(async ({ errors, outputFiles }) => {
        if (errors.length > 0) return; // esbuild has printed them
        // A source map comes before its worker, for which the daemon restarts.
        const files = outputFiles.toSorted((a, b) => Number(b.path.endsWith('.map')) - Number(a.path.endsWith('.map')));
        for (const { path: file, contents } of files) {
          if (await holds(file, contents)) continue;
          await replace(file, contents);
          process.stderr.write(`${path.basename(file)} was rebuilt\n`);
        }
      });
    },
  };
  const watcher = await context({ ...workerBundle, plugins: [...workerBundle.plugins, putInPlace] });
  await watcher.watch();
  return watcher;
}

/** Builds the page into a temporary folder whenever it changes, and moves complete builds into place. */
async function watchPage() {
  const watcher = await buildVite({
    configFile: path.join(ROOT, 'vite.config.ts'),
    root: path.join(ROOT, 'src/page'),
    build: { outDir: aside, emptyOutDir: true, watch: {} },
  });
  watcher.on('event', async (event) => {
    if (event.code === 'ERROR') process.stderr.write(`${event.error.message}\n`);
    if (event.code !== 'BUNDLE_END') return;
    await event.result.close();
    await putPageInPlace();
  });
  return watcher;
}

async function putPageInPlace() {
  await packParts(path.join(aside, PARTS), path.join(PAGE, `${PARTS}.bin`));
  for (const name of [`${PARTS}.bin`, 'csp.json', 'licenses.txt', LAST]) {
    const contents = await readFile(path.join(aside, name));
    if (await holds(path.join(PAGE, name), contents)) continue;
    if (!/\.(bin|json)$/.test(name)) {
      await precompress(path.join(aside, name));
      for (const ending of ['br', 'gzip']) {
        await replace(path.join(PAGE, `${name}.${ending}`), await readFile(path.join(aside, `${name}.${ending}`)));
      }
    }
    await replace(path.join(PAGE, name), contents);
    if (name === LAST) process.stderr.write('the page was rebuilt\n');
  }
}

/** A file with the same contents is left alone, so that the daemon does not restart for it. */
async function holds(file, contents) {
  const before = await readFile(file).catch((error) => {
    if (error.code !== 'ENOENT') throw error;
  });
  return before?.equals(contents) ?? false;
}

/** Replaces the file whole, so that no daemon reads a part of it. */
async function replace(file, contents) {
  const made = path.join(path.dirname(file), `.${path.basename(file)}`);
  await writeFile(made, contents);
  await rename(made, file);
}
