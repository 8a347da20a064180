import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { DaemonUnderTest } from '../../support/daemon/daemon.ts';
import type { ScriptedModel } from '../../support/model/scripted-model.ts';

/** A running daemon of an older build, and the folders that become the fixture. */
export interface Recording {
  daemon: DaemonUnderTest;
  model: ScriptedModel;
  /** The older build's `bin/headgate.js`. */
  entry: string;
  /** Contains `home`, `project`, `lent` and `node`. */
  root: string;
  home: string;
  /** Environment variables for the processes of the older build. */
  env: Record<string, string>;
  /** Tokens, ids and the like that tests need, by name. */
  secrets: Record<string, string>;
}

const PRELOAD = new URL('../../support/fixtures/moved-clock.ts', import.meta.url);

/** Returns environment variables that set a process's wall clock to `nowMs`. */
export const clockAt = (nowMs: number): Record<string, string> => ({
  NODE_OPTIONS: `--import=${PRELOAD.href}`,
  CLOCK_AHEAD_MS: String(Math.round(nowMs - performance.timeOrigin - performance.now())),
});

/** Returns a configuration with many kinds of settings. */
export const configOf = ({ model, webhook }: { model: string; webhook: string }): object => ({
  models: {
    local: { provider: 'openai-compatible', baseUrl: model, model: 'scripted', apiKey: 'key-of-local' },
    other: { provider: 'openai-compatible', baseUrl: model, model: 'scripted-2', images: false },
  },
  defaultModel: 'local',
  channels: { webhook: { shed: { url: webhook, secret: 'whsec_c2VjcmV0IG9mIHRoZSBzaGVk' } } },
  nodes: { '*': { allow: ['file.*'] } },
  tools: { sandbox: 'off' },
  approvalTimeoutSecs: 3_600,
  retentionDays: 60,
});

export async function prepareFolders(root: string, write: typeof writeFile = writeFile): Promise<void> {
  await write(path.join(root, 'project', 'readme.txt'), 'Hello from the project.\n');
  await write(path.join(root, 'lent', 'note.txt'), 'Lent to the gateway.\n');
}
