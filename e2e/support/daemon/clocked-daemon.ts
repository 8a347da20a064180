import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { type Clock, systemClock } from '../../../src/clock.ts';
import { loadAssets } from '../../../src/daemon/assets.ts';
import { startDaemon } from '../../../src/daemon/compose.ts';
import { parseConfig } from '../../../src/daemon/config/config.ts';
import type { Replacements } from '../../../src/daemon/daemon-options.ts';
import { CONNECT, openClient, type TestClient } from '../../../src/gateway/testing/test-client.ts';
import { findOperatorToken } from '../../../src/home/operator-token.ts';
import { randomIds } from '../../../src/ids.ts';
import { createLogRing } from '../../../src/log-ring.ts';
import { fakeClock } from '../../../src/testing/fake-clock.ts';
import { recordingLog, tempDir } from '../../../src/testing/temp-store.ts';
import { readVersion } from '../../../src/version.ts';
import { within } from '../deadline.ts';
import { bundleUpToDate } from './daemon-process.ts';

const ROOT = new URL('../../../', import.meta.url);
const NOON_MS = Date.UTC(2030, 0, 1, 12);
/** A daemon whose clock stands still waits for ever where another one would give up. */
const END_MS = 60_000;
/** Longer than the daemon waits between two looks at ended processes, and shorter than all its other waits. */
const SHORT_MS = 100;

/** Processes end in real time, so short waits for them pass by themselves. */
const passing = (clock: Clock): Clock => ({
  ...clock,
  sleep: (ms, signal) => (ms <= SHORT_MS ? systemClock : clock).sleep(ms, signal),
});

export type ClockedDaemon = Awaited<ReturnType<typeof startClockedDaemon>>;

/**
 * The whole daemon of `src/daemon/compose.ts` in this process, with real sockets and files. Its clock stands still
 * until the test moves it.
 */
export async function startClockedDaemon(
  config: object = {},
  {
    environment = { HEADGATE_MODEL: 'demo' },
    clock = fakeClock(NOON_MS),
    replace = {},
  }: { environment?: Record<string, string>; clock?: ReturnType<typeof fakeClock>; replace?: Replacements } = {},
) {
  await bundleUpToDate();
  const folder = tempDir();
  const home = path.join(folder.path, 'home');
  await mkdir(home, { mode: 0o700 });
  const log = recordingLog();
  const start = async () =>
    startDaemon({
      ...{ home, host: '127.0.0.1', port: 0, authEnabled: true, newSecrets: false, onOver: () => undefined },
      ...{ bootId: 'boot', userHome: folder.path, uid: process.getuid?.(), hostTimeZone: 'UTC' },
      config: parseConfig(JSON.stringify(config), 'config.json').config,
      overrides: new Map(),
      environment: { HEADGATE_SKIP_TITLES: '1', HEADGATE_SKIP_JUDGE_MODEL: '1', ...environment },
      version: await readVersion(ROOT),
      assets: loadAssets(ROOT),
      ...{ log, setLogLevel: () => undefined, logRing: createLogRing('log'), clock: passing(clock), ids: randomIds },
      restart: () => Promise.reject(new Error('nothing can take over')),
      replace,
    });
  let daemon = await start();
  const token = (await findOperatorToken(home)) ?? '';
  const clients = new Set<TestClient>();
  const url = () => `http://127.0.0.1:${daemon.port}`;

  return {
    ...{ clock, log, token, home },
    get url() {
      return url();
    },
    get port() {
      return daemon.port;
    },
    get wsUrl() {
      return `ws://127.0.0.1:${daemon.port}/v1/ws`;
    },
    fetch: (route: string, init?: RequestInit) => fetch(new URL(route, url()), init),
    /** The value of one gauge in `/metrics`. */
    async gauge(name: string): Promise<number> {
      const text = await (await fetch(new URL('/metrics', url()))).text();
      return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
    },
    /** A socket after its handshake; `port`: of a proxy before the daemon. */
    async connect({ port = daemon.port, auth = token, client = {} } = {}): Promise<TestClient> {
      const opened = await openClient(`ws://127.0.0.1:${port}/v1/ws`, {});
      clients.add(opened);
      await opened.call('connect', { ...CONNECT, client: { ...CONNECT.client, ...client }, auth: { token: auth } });
      return opened;
    },
    loginLink: () => daemon.loginLink(),
    /** A new daemon on the same home, on another port; `meanwhile` runs while there is none. */
    async restart(meanwhile: () => void | Promise<void> = () => undefined): Promise<void> {
      await daemon.shutdown('restart');
      await meanwhile();
      daemon = await start();
    },
    async [Symbol.asyncDispose]() {
      for (const { socket } of clients) socket.terminate();
      const told = () => `an end of the daemon; its last words: ${JSON.stringify(log.lines.slice(-5))}`;
      await within(daemon.shutdown('test'), END_MS, told);
      folder[Symbol.dispose]();
    },
  };
}
