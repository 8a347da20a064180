import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { GatewayClient } from '../../protocol/client/ws-client.ts';
import { type NatsServer, startNats } from '../../src/testing/nats-server.ts';
import { type PostgresServer, startPostgres } from '../../src/testing/postgres-server.ts';
import { type DaemonUnderTest, startDaemon } from '../support/daemon/daemon.ts';
import { pause, within } from '../support/deadline.ts';
import { type ScriptedModel, startScriptedModel } from '../support/model/scripted-model.ts';
import { copyKeys } from './copy-keys.ts';
import { nodeIdOf, untilServing } from './two-daemons.ts';

interface Scene {
  postgres: PostgresServer;
  url: string;
  nats: NatsServer;
  model: ScriptedModel;
  folder: string;
}

let opened: Promise<Scene> | undefined;
let firstHome: string | undefined;
let homes = 0;

/** One database and one bus for all tests of this file, in which daemons come and go. */
export const crewScene = (): Promise<Scene> => {
  opened ??= open();
  return opened;
};

async function open(): Promise<Scene> {
  const [postgres, nats, model] = await Promise.all([startPostgres(), startNats(), startScriptedModel()]);
  const folder = await mkdtemp(path.join(tmpdir(), 'headgate-crew-'));
  return { postgres, url: await postgres.createDatabase(), nats, model, folder };
}

/** To be called after the tests. */
export async function closeCrew(): Promise<void> {
  if (opened === undefined) return;
  const { postgres, nats, model, folder } = await opened;
  opened = undefined;
  firstHome = undefined;
  await Promise.all([postgres.close(), nats.close(), model.close()]);
  await rm(folder, { recursive: true, force: true });
}

/** A folder that all daemons of this file have, or one that only this one has. */
export async function folderNamed(name: string): Promise<string> {
  const folder = path.join((await crewScene()).folder, name);
  await mkdir(folder, { recursive: true });
  return folder;
}

interface CrewOptions {
  args?: string[];
  /** The active daemon does not have its folder. */
  isAlone?: boolean;
  /** Of its machine, separated by commas. */
  labels?: string;
  /** Of another release. */
  entry?: string;
  /** More settings. */
  config?: object;
}

async function startMember(options: CrewOptions): Promise<DaemonUnderTest> {
  const { args = [], isAlone = false, labels, entry, config = {} } = options;
  const { url, nats, model, folder } = await crewScene();
  homes += 1;
  const home = path.join(folder, `member-${homes}`);
  if (firstHome !== undefined) {
    await mkdir(home, { mode: 0o700 });
    await copyKeys(firstHome, home);
  }
  firstHome ??= home;
  return startDaemon({
    home,
    model: model.url,
    ...(labels !== undefined && { env: { HEADGATE_STORE_MACHINE_LABELS: labels } }),
    ...(entry !== undefined && { entry }),
    args: isAlone ? args : [...args, '--workdir', await folderNamed('shared')],
    config: { store: { url, bus: nats.url }, nodes: { '*': { allow: ['system.*'] } }, ...config },
  });
}

/** A daemon that gives work to others; a standby while another one does. */
export const startLead = (options: CrewOptions = {}): Promise<DaemonUnderTest> =>
  startMember({ ...options, args: ['--standby', ...(options.args ?? [])] });

export const startWorker = (options: CrewOptions = {}): Promise<DaemonUnderTest> =>
  startMember({ ...options, args: ['--worker', ...(options.args ?? [])] });

interface Pair extends AsyncDisposable {
  lead: DaemonUnderTest;
  worker: DaemonUnderTest;
  /** A workstream that the worker has. */
  wsId: string;
}

/** An active daemon, and a worker that has joined it. */
export async function startPair(options: CrewOptions = {}): Promise<Pair> {
  await using opened = new AsyncDisposableStack();
  const lead = opened.use(await startLead(options.config && { config: options.config }));
  await untilServing(lead);
  const worker = opened.use(await startWorker(options.isAlone ? await alone(options, lead) : options));
  await untilJoined(lead, worker);
  const wsId = await newAt(worker, lead);
  const kept = opened.move();
  return { lead, worker, wsId, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

/** No daemon may use a folder of its own home. */
async function alone({ args = [], ...options }: CrewOptions, { home }: DaemonUnderTest): Promise<CrewOptions> {
  const folder = path.join(home, 'not-for-it');
  await mkdir(folder);
  return { ...options, args: [...args, '--workdir', folder] };
}

/** Asks again and again, without taking the machine's time from the daemons. */
export async function until(isSo: () => Promise<boolean> | boolean, what: () => string): Promise<void> {
  let isOver = false;
  const asking = async () => {
    while (!isOver && !(await isSo())) await pause(50);
  };
  await within(asking(), 60_000, what).finally(() => {
    isOver = true;
  });
}

/** Workers that the active daemon knows, by its own words. */
export async function untilJoined(lead: DaemonUnderTest, ...workers: DaemonUnderTest[]): Promise<void> {
  const urls = workers.map(({ url }) => url);
  await until(
    async () => {
      const { body } = await lead.get('/v1/api/cluster/nodes');
      const joined: { server_url: string; health: unknown }[] = body?.nodes ?? [];
      return urls.every((url) => joined.some(({ server_url, health }) => server_url === url && health !== null));
    },
    () => `the workers have joined; ${lead.output().stderr}`,
  );
}

/** A new workstream that this daemon has. */
export async function newAt(worker: DaemonUnderTest, lead: DaemonUnderTest): Promise<string> {
  const node_id = await nodeIdOf(worker);
  const { body: made } = await lead.post('/v1/api/route/workstreams/new', { target_node: node_id });
  if (made.node_url !== worker.url) throw new Error(`it is at ${JSON.stringify(made)}, not at ${worker.url}`);
  return made.ws_id;
}

/** Creates a user, and a token of that user. */
export async function tokenOfUser(
  operator: GatewayClient,
  username: string,
  { role, scopes }: { role: string; scopes: string[] },
): Promise<string> {
  const asked = { username, displayName: username, password: 'correct horse', roles: [role] };
  const { userId } = await operator.call('user.create', asked);
  return (await operator.call('user.token.create', { userId, name: 'e2e', scopes })).token;
}
