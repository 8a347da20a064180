// `npm run dev`: runs the daemon from its sources, restarts it when they change, and rebuilds the page when its sources change.
// Arguments after `--` go to `headgate start`. The workers of the daemon come from the last build.
import { spawn } from 'node:child_process';
import { cp, mkdtemp, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { build as buildVite } from 'vite';
import { build } from './build.js';
import { precompress } from './precompress.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const PAGE = path.join(ROOT, 'dist/ui');
/** The last file of the page to be replaced. When it changes, the daemon restarts and reads the page again. */
const LAST = 'index.html';

await build({ ifStale: true });
const aside = await mkdtemp(path.join(ROOT, 'dist/.dev-page-'));
const page = await watchPage();
const daemon = watchDaemon(process.argv.slice(2));
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => daemon.kill(signal));
daemon.once('exit', async (code) => {
  await page.close();
  await rm(aside, { recursive: true, force: true });
  process.exitCode = code ?? 0;
});

/** tsx runs the daemon with its own Node, which npm installed in node_modules. */
function watchDaemon(args) {
  const tsx = fileURLToPath(import.meta.resolve('tsx/cli'));
  const watch = ['watch', '--clear-screen=false', '--include', path.join(PAGE, LAST)];
  return spawn(process.execPath, [tsx, ...watch, 'scripts/dev-daemon.ts', 'start', ...args], {
    cwd: ROOT,
    stdio: 'inherit',
  });
}

/** Builds the page into a temporary folder whenever it changes, and moves complete builds into place. */
async function watchPage() {
  const watcher = await buildVite({
    configFile: path.join(ROOT, 'vite.config.ts'),
    root: path.join(ROOT, 'src/page'),
    build: { outDir: aside, emptyOutDir: true, watch: {} },
  });
  let isFirst = true;
  watcher.on('event', async (event) => {
    if (event.code === 'ERROR') process.stderr.write(`${event.error.message}\n`);
    if (event.code !== 'BUNDLE_END') return;
    await event.result.close();
    if (isFirst)
      isFirst = false; // already in place
    else await putInPlace();
  });
  return watcher;
}

async function putInPlace() {
  const names = ['licenses.txt', LAST];
  for (const name of names) await precompress(path.join(aside, name));
  const files = names.flatMap((name) => [`${name}.br`, `${name}.gzip`, name]);
  for (const name of ['csp.json', ...files]) {
    const made = path.join(PAGE, `.${name}`);
    await cp(path.join(aside, name), made);
    await rename(made, path.join(PAGE, name));
  }
  process.stderr.write('the page was rebuilt\n');
}
