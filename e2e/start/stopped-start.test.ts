import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { spawnHeadgate } from '../support/daemon/daemon-process.ts';

test('a daemon that is stopped while it starts prints no login link and leaves no address behind', async () => {
  await using folder = await mkdtempDisposable(path.join(tmpdir(), 'headgate-stopped-'));
  const home = path.join(folder.path, 'home');
  const args = ['start', '--port', '0', '--home', home];
  const daemon = await spawnHeadgate({ args, env: { HOME: folder.path, HEADGATE_MODEL: 'demo' } });
  await daemon.printed(/the database has a new schema/, 'stderr');
  daemon.kill('SIGTERM');
  assert.deepEqual(await daemon.exited, { code: 0, signal: null });
  assert.deepEqual([daemon.stdout(), existsSync(path.join(home, 'daemon.json'))], ['', false]);
});
