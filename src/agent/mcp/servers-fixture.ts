import { once } from 'node:events';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import { getCompileCacheDir } from 'node:module';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Low, Memory } from 'lowdb';
import { systemClock } from '../../clock.ts';
import { randomIds } from '../../ids.ts';
import { recordingLog } from '../../testing/temp-store.ts';
import { testGuard } from '../guard/guard-fixture.ts';
import { BASH } from '../process/program-fixture.ts';
import { createProcessRunner } from '../process/runner.ts';
import { holdFolder } from '../tools/files/held-folder.ts';
import { recordRun } from '../tools/tool-fixture.ts';
import { createToolbox } from '../tools/toolbox.ts';
import type { Accounts } from './accounts/accounts.ts';
import { NO_ACCOUNTS } from './accounts/no-accounts-fixture.ts';
import type { ServerMemory } from './known-servers.ts';
import { openProgram } from './open-program.ts';
import { openRemote } from './open-remote.ts';
import type { ServerConfig } from './server-config.ts';
import { createToolServers } from './tool-servers.ts';

/** The program of `fakeServer`. */
export const FAKE = fileURLToPath(new URL('misbehaving-server.ts', import.meta.url));

/** Servers get no environment from here. Without its cache, Node strips their types again, which doubles the time of a start. */
const cache = getCompileCacheDir();
const COMPILED = cache === undefined ? {} : { NODE_COMPILE_CACHE: dirname(cache) };

/** A server that misbehaves in this way. */
export const fakeServer = (way: string, more: Partial<ServerConfig> = {}): ServerConfig => ({
  command: process.execPath,
  args: [FAKE, way],
  env: COMPILED,
  headers: {},
  network: [],
  folders: [],
  writesFolders: false,
  sandbox: false,
  autoApprove: false,
  enabled: true,
  timeoutSecs: 20,
  ...more,
});

/** Perhaps for another workstream than the usual one. */
type RecordedRun = ReturnType<typeof recordRun> & { wsId?: string };

/** Tool servers that really run, without a sandbox. */
export async function openServers(
  t: TestContext,
  servers: Record<string, ServerConfig>,
  accounts: Accounts = NO_ACCOUNTS,
) {
  const home = await realpath(await mkdtemp(join(tmpdir(), 'headgate-servers-')));
  const clock = systemClock;
  const guard = testGuard(['canary-1234567890']);
  const log = recordingLog();
  const environment = { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: '/nowhere', CANARY: 'canary-1234567890' };
  const sandbox = { kind: 'none', reason: 'a test', required: false } as const;
  const runner = createProcessRunner({ clock, environment, sandbox, bash: BASH, ids: randomIds, home });
  const live = { mcp: { servers, idleMinutes: 10 } };
  const memory = new Low<ServerMemory>(new Memory(), { servers: {} });
  const starts: string[] = [];
  const remote = { environment, fetch, clock, version: 'test' };
  const pool = createToolServers({
    live,
    accounts,
    memory,
    guard,
    outputs: join(home, 'outputs'),
    clock,
    ids: randomIds,
    log,
    open(server, options) {
      starts.push(server.name);
      const { name, config, account } = server;
      const { url } = config;
      if (url !== undefined) return openRemote({ config, url, account }, options, remote);
      return openProgram({ name, config, command: config.command ?? '' }, options, {
        runner,
        environment,
        folder: join(home, 'tool-servers'),
        toPath: (folder) => folder,
        onConnection: () => undefined,
        clean: guard.clean,
        clock,
        version: 'test',
      });
    },
  });
  const folder = await holdFolder(home);
  t.after(async () => {
    await pool.close();
    await folder[Symbol.asyncDispose]();
    await rm(home, { recursive: true, force: true });
  });
  const toolbox = createToolbox([], guard, pool);
  const prepare = (name: string, args: object = {}, wsId = 'ws-1') =>
    toolbox.prepare(
      { id: 'call-1', name, arguments: JSON.stringify(args) },
      {
        wsId,
        callId: 'call-1',
        workdir: { folder, readable: [] },
        history: [],
        signal: new AbortController().signal,
      },
    );
  return {
    ...{ pool, live, memory, starts, toolbox, prepare, log, home },
    async call(name: string, args: object = {}, { wsId, ...run }: RecordedRun = recordRun()) {
      const prepared = await prepare(name, args, wsId);
      if (prepared.kind === 'refused') throw new Error(prepared.reason);
      const { output, outcome, images } = await prepared.execute(run);
      return { output, outcome, chunks: run.chunks, ...(images && { images: images.length }) };
    },
    /** Starts the servers and waits for their tools. */
    async ready() {
      pool.start();
      await pool.ready(new AbortController().signal);
      return toolbox.definitions();
    },
  };
}

/** What a server answered, without the lines around it. */
export const inner = (output: string): string => output.split('\n').slice(1, -1).join('\n');

/** An HTTP server until the end of the test; returns the address of its `/mcp`. */
export async function serve(t: TestContext, listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
}

/** A port at which nothing listens. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
