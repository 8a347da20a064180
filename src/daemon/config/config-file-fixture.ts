import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fakeClock } from '../../testing/fake-clock.ts';
import { tempDir } from '../../testing/temp-store.ts';
import { Config } from './config.ts';
import { createConfigFile } from './config-file.ts';

type ConfigFileDeps = Parameters<typeof createConfigFile>[0];

/** A config.json in a temporary home; undefined: without one. */
export async function setUp(text?: string, replaced: Partial<ConfigFileDeps> = {}) {
  const home = tempDir();
  const file = path.join(home.path, 'config.json');
  if (text !== undefined) await writeFile(file, text, { mode: 0o600 });
  const applied: Config[] = [];
  const live = {
    check: ({ channels }: Config) =>
      channels.webhook.gone
        ? [{ path: 'channels.webhook.gone.secretEnv', message: 'the environment has no GONE' }]
        : [],
    whole: () => Config.parse({}),
    apply: (config: Config) => {
      applied.push(config);
      return { applied: ['retentionDays'], restart: [] };
    },
  };
  const keyHosts = { check: () => [], remember: async () => undefined };
  const config = createConfigFile({
    digestOf: (text) => `digest of ${text}`,
    home: home.path,
    live,
    keyHosts,
    checkStart: async () => [],
    overrides: new Map(),
    version: '1.2.3',
    clock: fakeClock(0),
    ...replaced,
  });
  return {
    file,
    applied,
    config,
    onDisk: () => readFile(file, 'utf8'),
    [Symbol.dispose]: () => home[Symbol.dispose](),
  };
}
