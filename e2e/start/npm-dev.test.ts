import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { within } from '../support/deadline.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const NEEDED = ['bin', 'dist', 'protocol', 'scripts', 'src', 'package.json', 'package-lock.json', 'vite.config.ts'];

/** A copy of the repository with its build, whose files a test may change. Times of files are kept, so nothing is outdated. */
async function copyRepository() {
  const folder = await mkdtemp(path.join(tmpdir(), 'headgate-e2e-'));
  const root = path.join(folder, 'headgate');
  await mkdir(root);
  const configs = ['tsconfig.json', 'tsconfig.clients.json'];
  await promisify(execFile)('cp', ['-a', ...[...NEEDED, ...configs].map((name) => path.join(ROOT, name)), root]);
  await symlink(path.join(ROOT, 'node_modules'), path.join(root, 'node_modules'));
  return {
    folder,
    root,
    read: (file: string) => readFile(path.join(root, file), 'utf8'),
    /** Replaces a text in a file, as an editor does that saves to a new file. */
    async edit(file: string, from: string, to: string) {
      const before = await readFile(path.join(root, file), 'utf8');
      assert.ok(before.includes(from), `${from} in ${file}`);
      await writeFile(path.join(root, `${file}.new`), before.replace(from, to));
      await rename(path.join(root, `${file}.new`), path.join(root, file));
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true, maxRetries: 5 }),
  };
}

/** Runs `npm run dev` as a shell does, in a separate process group. */
async function npmRunDev({ folder, root }: { folder: string; root: string }) {
  const home = path.join(folder, 'home');
  const { PATH = '' } = process.env;
  const child = spawn('npm', ['run', 'dev', '--', '--port', '0', '--home', home, '--model', 'demo'], {
    cwd: root,
    env: { PATH, HOME: folder },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const banners = bannersOf(createInterface(child.stdout));
  const find = async (isExpected: (banner: string) => boolean | Promise<boolean>): Promise<string> => {
    const { value: banner, done } = await banners.next();
    if (done) throw new Error(`npm run dev ended; stderr: ${stderr}`);
    return (await isExpected(banner)) ? banner : find(isExpected);
  };
  const closed = once(child, 'close').then(([code]) => code);
  const exited = () => within(closed, 60_000, () => `an end of npm run dev; stderr: ${stderr}`);
  return {
    home,
    /** Resolves with the banner of the next daemon that is as expected. */
    daemon: (isExpected: (banner: string) => boolean | Promise<boolean> = () => true) =>
      within(find(isExpected), 60_000, () => `a daemon; stderr: ${stderr}`),
    kill: (signal: NodeJS.Signals) => process.kill(-(child.pid ?? 0), signal),
    exited,
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null) process.kill(-(child.pid ?? 0), 'SIGTERM');
      await exited();
    },
  };
}

/** The banner of every daemon, from its address to the state of its sandbox. */
async function* bannersOf(lines: AsyncIterable<string>): AsyncGenerator<string, undefined> {
  let banner = '';
  for await (const line of lines) {
    banner = line.startsWith('  Open ') ? line : `${banner}\n${line}`;
    if (line.startsWith('  Sandbox ')) yield banner;
  }
}

test('npm run dev restarts the daemon for a new worker, page or source, and Ctrl-C stops it in order', async () => {
  await using copy = await copyRepository();
  await using dev = await npmRunDev(copy);
  await dev.daemon();

  await copy.edit(
    'src/agent/tools/search/search-worker.ts',
    'const MAX_HITS',
    "process.title = 'edited';\nconst MAX_HITS",
  );
  await dev.daemon(async () => (await copy.read('dist/search-worker.js')).includes('edited'));

  await copy.edit('src/page/index.html', '<title>', '<title>edited ');
  await dev.daemon(async (banner) => {
    const { origin } = new URL(/http:\S+/.exec(banner)?.[0] ?? '');
    const text = await fetch(origin).then(
      (answer) => answer.text(),
      () => '', // it restarts again
    );
    return text.includes('<title>edited ');
  });

  // Last, because tsx is ready to see changed sources only some time after the first daemon has started.
  await copy.edit('src/daemon/banner.ts', 'the agent works here', 'edited');
  await dev.daemon((banner) => banner.includes('(edited)'));

  dev.kill('SIGINT');
  assert.equal(await dev.exited(), 0);
  await assert.rejects(access(path.join(dev.home, 'daemon.json')), { code: 'ENOENT' });
});
