import assert from 'node:assert/strict';
import { mkdir, realpath, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { recordingLog, tempDir } from '../../testing/temp-store.ts';
import { loadConfig } from '../config/config.ts';
import { resolveOptions } from '../config/options.ts';
import { createLaterSettings } from './later-settings.ts';

async function setUp(settings: object) {
  const home = tempDir();
  const write = (next: object | string) =>
    writeFile(join(home.path, 'config.json'), typeof next === 'string' ? next : JSON.stringify(next));
  await write(settings);
  const work = join(await realpath(home.path), 'work');
  await mkdir(work);
  const around = { environment: { HEADGATE_MODEL: 'demo' }, userHome: '/home/ada', cwd: '/' };
  const { config } = await loadConfig(home.path);
  const log = { ...recordingLog(), level: 'info' };
  const again = createLaterSettings(
    { config, options: resolveOptions({}, config, around) },
    { home: home.path, flags: {}, around, uid: 1_000, log },
  );
  return { work, write, again, log, [Symbol.dispose]: () => home[Symbol.dispose]() };
}

test('a later daemon of a process has the settings that config.json has by then', async () => {
  using world = await setUp({ retentionDays: 7, server: { port: 7_001 } });
  await world.write({
    ...{ retentionDays: 9, logLevel: 'debug', tools: { tier: 'read-only' }, workdir: world.work },
    ...{ server: { port: 7_002, maxWorkstreams: 3 }, store: { url: 'postgresql://other/db' } },
  });
  const { config, options } = await world.again();
  assert.deepEqual(
    [
      config.retentionDays,
      world.log.level,
      config.tools.tier,
      config.server.maxWorkstreams,
      options.workdir,
      options.model,
    ],
    [9, 'debug', 'read-only', 3, world.work, 'demo'],
  );
  // The process keeps its address and its database.
  assert.deepEqual(
    [config.server.port, options.port, config.store.url, options.storeUrl],
    [7_001, 7_001, undefined, undefined],
  );
});

test('if config.json cannot be used then, the settings stay as they were, and the log says why', async () => {
  using world = await setUp({ retentionDays: 7 });
  await world.write({ retentionDays: 8 });
  await world.again();
  const webhook = { a: { url: 'https://hooks.example.com/x', secretEnv: 'MISSING' } };
  for (const broken of ['{', { retentionDays: 'many' }, { defaultModel: 'nope' }, { channels: { webhook } }]) {
    await world.write(broken);
    assert.equal((await world.again()).config.retentionDays, 8);
  }
  assert.equal(world.log.lines.filter(([, message]) => message.startsWith('config.json cannot be used now')).length, 4);
});
