import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { within } from '../support/deadline.ts';

/** Runs `npm start` as a shell does, in a separate process group, until the banner appears. */
async function npmStart() {
  const folder = await mkdtemp(path.join(tmpdir(), 'headgate-e2e-'));
  const home = path.join(folder, 'home');
  const { PATH = '', NODE_V8_COVERAGE } = process.env;
  const child = spawn('npm', ['start', '--', '--port', '0', '--home', home, '--model', 'demo'], {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    env: { PATH, HOME: folder, ...(NODE_V8_COVERAGE !== undefined && { NODE_V8_COVERAGE }) },
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let stdout = '';
  const banner = Promise.withResolvers<void>();
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    if (stdout.includes('  Sandbox ')) banner.resolve();
  });
  const exited = once(child, 'close').then(([code]) => code);
  await within(banner.promise, 60_000, () => `a banner from npm start; stdout: ${stdout}`);
  const pid = child.pid ?? 0;
  return {
    home,
    /** Only to npm, as a service manager does, or to the whole group, as a terminal does. */
    kill: (signal: NodeJS.Signals, to: 'npm' | 'group') => process.kill(to === 'npm' ? pid : -pid, signal),
    exited: () => within(exited, 60_000, () => 'an end of npm start'),
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null) process.kill(-pid, 'SIGKILL');
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

for (const [signal, to] of [
  ['SIGTERM', 'npm'],
  ['SIGINT', 'group'],
] as const)
  test(`${signal} to ${to === 'npm' ? 'npm reaches the daemon' : 'npm and the daemon stops it once'}`, async () => {
    await using npm = await npmStart();
    await access(path.join(npm.home, 'daemon.json'));
    npm.kill(signal, to);
    assert.equal(await npm.exited(), 0);
    await assert.rejects(access(path.join(npm.home, 'daemon.json')), { code: 'ENOENT' });
  });
