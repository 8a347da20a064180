import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type PostgresServer, queryPostgres, startPostgres } from '../../src/testing/postgres-server.ts';
import { type DaemonUnderTest, type StartOptions, startDaemon } from '../support/daemon/daemon.ts';
import { pause, within } from '../support/deadline.ts';
import { type ScriptedModel, startScriptedModel } from '../support/model/scripted-model.ts';
import { copyKeys } from './copy-keys.ts';

interface Scene {
  server: PostgresServer;
  url: string;
  model: ScriptedModel;
  folder: string;
}

let opened: Promise<Scene> | undefined;
/** One database for all tests of this file, in which daemons come and go. */
export const scene = (): Promise<Scene> => {
  opened ??= open();
  return opened;
};

async function open(): Promise<Scene> {
  const server = await startPostgres();
  const url = await server.createDatabase();
  return {
    server,
    url,
    model: await startScriptedModel(),
    folder: await mkdtemp(path.join(tmpdir(), 'headgate-two-')),
  };
}

/** How the machine of a daemon is named. */
export const nodeIdOf = async (daemon: DaemonUnderTest): Promise<string> => (await daemon.get('/health')).body.node_id;

/** To be called after the tests. */
export async function closeScene(): Promise<void> {
  if (opened === undefined) return;
  const { server, model, folder } = await opened;
  opened = undefined;
  firstHome = undefined;
  await model.close();
  await server.close();
  await rm(folder, { recursive: true, force: true });
}

let homes = 0;

/** A home with the keys of another one. */
async function homeLike(from: string): Promise<string> {
  homes += 1;
  const home = path.join((await scene()).folder, `home-${homes}`);
  await mkdir(home, { mode: 0o700 });
  await copyKeys(from, home);
  return home;
}

let firstHome: string | undefined;

/** A daemon that waits for its turn; it is active if nobody else is. `entry`: of another release. */
export async function startOne({ entry }: Pick<StartOptions, 'entry'> = {}): Promise<DaemonUnderTest> {
  const { url, model, folder } = await scene();
  const home = firstHome === undefined ? path.join(folder, 'first') : await homeLike(firstHome);
  firstHome ??= home;
  return startDaemon({
    ...{ home, model: model.url, args: ['--standby'] },
    ...(entry !== undefined && { entry }),
    config: { store: { url }, nodes: { '*': { allow: ['system.*'] } } },
  });
}

/** Asks again and again, without taking the machine's time from the daemons. */
async function until(isSo: () => Promise<boolean>, what: () => string): Promise<void> {
  const limit = new AbortController();
  const asking = async () => {
    while (!limit.signal.aborted && !(await isSo())) await pause(POLL_MS);
  };
  try {
    await within(asking(), 60_000, what);
  } finally {
    limit.abort();
  }
}

const POLL_MS = 50;

const statusOf = async (daemon: DaemonUnderTest): Promise<number> =>
  (await daemon.get('/health').catch(() => undefined))?.status ?? 0;

export async function untilServing(daemon: DaemonUnderTest): Promise<number> {
  const beganMs = performance.now();
  await until(
    async () => (await statusOf(daemon)) === 200,
    () => `the standby serves; ${JSON.stringify(daemon.output())}`,
  );
  return performance.now() - beganMs;
}

export function socketOutcome(url: string): Promise<'open' | 'refused'> {
  const { promise, resolve } = Promise.withResolvers<'open' | 'refused'>();
  const socket = new WebSocket(url);
  socket.addEventListener('open', () => resolve('open'));
  socket.addEventListener('error', () => resolve('refused'));
  return promise;
}

export async function untilStandby(daemon: DaemonUnderTest): Promise<void> {
  await until(
    async () => (await daemon.get('/health').catch(() => undefined))?.body.status === 'standby',
    () => `the daemon is a standby; ${JSON.stringify(daemon.output())}`,
  );
}

/** The lease, by the clock of the database. */
export async function lease(): Promise<{ epoch: number; isHeld: boolean }> {
  const { url } = await scene();
  const [row] = await queryPostgres(
    url,
    'select epoch::int, expires_at > clock_timestamp() as held from headgate.leases',
  );
  return { epoch: Number(row?.epoch), isHeld: row?.held === true };
}

/** How long neither of them answered with success, from the last answer of one to the first of the other. */
export async function gapBetween(one: DaemonUnderTest, other: DaemonUnderTest): Promise<number> {
  let lastMs = performance.now();
  for (;;) {
    if ((await statusOf(one)) === 200) lastMs = performance.now();
    else if ((await statusOf(other)) === 200) return performance.now() - lastMs;
    await pause(POLL_MS / 5);
  }
}

/** Resolves when the standby serves its clients by the active daemon. */
export async function untilForwarding(standby: DaemonUnderTest): Promise<void> {
  await until(
    async () => (await standby.get('/v1/api/workstreams')).status === 200,
    () => `requests are forwarded; ${JSON.stringify(standby.output())}`,
  );
}
