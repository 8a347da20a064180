import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { systemClock } from '../../src/clock.ts';
import { type PostgresServer, queryPostgres } from '../../src/testing/postgres-server.ts';
import type { ClusterEvidence, ProcessEnd, Recovery } from '../checker/cluster/cluster-evidence.ts';
import { MOST_ATTEMPTS } from '../checker/cluster/cluster-rules.ts';
import type { Random } from '../checker/random.ts';
import type { Address } from '../checker/recording/record-socket.ts';
import { copyKeys } from '../cluster/copy-keys.ts';
import { type DaemonUnderTest, type JsonAnswer, startDaemon } from '../support/daemon/daemon.ts';
import { pause } from '../support/deadline.ts';
import type { Network, Site } from './network.ts';

/** A daemon of the service, with the links to it. */
export interface Machine {
  name: string;
  daemon: DaemonUnderTest;
  nodeId: string;
  links: Site['links'];
  isUp: boolean;
  isFrozen: boolean;
}

export interface Cluster extends AsyncDisposable {
  machines: readonly Machine[];
  server: PostgresServer;
  /** Of the database, past all links. */
  url: string;
  ends: readonly ProcessEnd[];
  /** Where a client goes next: any daemon, because it does not know which ones live. */
  at(): Address;
  /** Clients stop waiting for the answers of a daemon. */
  abandon(machine: Machine): void;
  /** All clients stop waiting for answers. */
  abandonAll(): void;
  post: DaemonUnderTest['post'];
  /** The machine that the lease names, whether it lives or not, and the epoch. */
  lease(): Promise<{ holder: Machine; epoch: number }>;
  /** Sends a signal; an end is what the drill wants, unless it only pauses. */
  signal(machine: Machine, signal: NodeJS.Signals): void;
  /** Starts the daemons that have ended. Then asks each daemon, as a client does, until it serves. */
  recover(round: number, faults: string): Promise<Recovery[]>;
  states(): Promise<ClusterEvidence['states']>;
}

interface ClusterOptions {
  network: Network;
  folder: string;
  server: PostgresServer;
  url: string;
  model: string;
  env: Record<string, string>;
  config: object;
  random: Random;
}

const NAMES = ['one', 'two', 'three'];
/** A client asks so often. */
const ASK_MS = 200;
/** How long a client waits for an answer. */
const CLIENT_MS = 5_000;

export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  const { server, url, random } = options;
  await mkdir(path.join(options.folder, 'workspace'), { recursive: true });
  const machines: Machine[] = [];
  const ends: ProcessEnd[] = [];
  const asked = new WeakSet<Machine>();
  const reach = new Map<Machine, AbortController>();
  /** Until its process ends. */
  const watch = (machine: Machine) => {
    machine.isUp = true;
    machine.isFrozen = false;
    asked.delete(machine);
    const { daemon, name } = machine;
    void daemon.exited().then(({ code }) => {
      machine.isUp = false;
      ends.push({ machine: name, code, isAsked: asked.has(machine), stderr: daemon.output().stderr });
    });
  };
  const abandon = (machine: Machine) => {
    reach.get(machine)?.abort();
    reach.set(machine, new AbortController());
  };
  for (const name of NAMES) {
    const machine = await startMachine({ ...options, name, first: machines[0] });
    machines.push(machine);
    abandon(machine);
    watch(machine);
    if (machines.length === 1) await untilServed(machine, () => Promise.resolve());
  }
  const bringUp = async (machine: Machine) => {
    if (machine.isUp) return;
    const isStarted = await machine.daemon.restart().then(
      () => true,
      () => false, // the database may be lost in the middle; the service manager tries again
    );
    if (isStarted) watch(machine);
  };
  const cluster: Cluster = {
    ...{ machines, server, url, ends, abandon },
    at() {
      const machine = random.pick(machines);
      const { url: to, token } = machine.daemon;
      const signal = reach.get(machine)?.signal;
      return { url: to, token, ...(signal && { signal }) };
    },
    abandonAll() {
      for (const machine of machines) abandon(machine);
    },
    post: (route, body) => postUntilAnswered(() => random.pick(machines), { route, body }),
    lease: () => leaseOf(url, machines),
    signal(machine, signal) {
      if (!['SIGSTOP', 'SIGCONT', 'SIGUSR2'].includes(signal)) asked.add(machine);
      machine.isFrozen = signal === 'SIGSTOP';
      machine.daemon.signal(signal);
    },
    recover: (round, faults) =>
      Promise.all(
        machines.map(async (machine) => ({
          ...{ round, faults, machine: machine.name },
          ...(await untilServed(machine, () => bringUp(machine))),
        })),
      ),
    states: () => Promise.all(machines.map(stateOf)),
    async [Symbol.asyncDispose]() {
      for (const { daemon } of machines) await daemon[Symbol.asyncDispose]();
    },
  };
  return cluster;
}

async function leaseOf(url: string, machines: readonly Machine[]): ReturnType<Cluster['lease']> {
  for (;;) {
    const rows = await queryPostgres(url, 'select node_id, epoch::int from headgate.leases').catch(() => undefined);
    const [row] = rows ?? [];
    const holder = machines.find(({ nodeId }) => nodeId === row?.node_id);
    if (holder) return { holder, epoch: Number(row?.epoch) };
    if (rows) throw new Error(`nobody of the cluster holds the lease, but ${row?.node_id}`);
    await pause(ASK_MS); // the database is away
  }
}

async function postUntilAnswered(pick: () => Machine, { route, body }: { route: string; body: unknown }) {
  for (;;) {
    const answer: JsonAnswer | undefined = await pick()
      .daemon.post(route, body)
      .catch(() => undefined);
    if (answer !== undefined && answer.status < 500) return answer;
    await pause(ASK_MS);
  }
}

async function startMachine({
  name,
  first,
  ...options
}: ClusterOptions & { name: string; first: Machine | undefined }) {
  const { folder, url, env, config, network } = options;
  const { links, start, storeUrl, model } = await network.site({ storeUrl: url, model: options.model });
  const home = path.join(folder, name);
  await mkdir(home, { mode: 0o700 });
  await writeFile(path.join(home, 'config.json'), JSON.stringify(config));
  if (first) await copyKeys(first.daemon.home, home);
  const daemon = await startDaemon({
    ...{ home, model, through: start.through, args: ['--standby', ...start.args] },
    env: {
      ...{ ...env, ...start.env },
      HEADGATE_WORKDIR: path.join(folder, 'workspace'),
      HEADGATE_STORE_URL: storeUrl,
    },
  });
  links.inbound.leadTo(daemon.port);
  const { node_id: nodeId } = (await daemon.get('/health')).body;
  return { name, daemon, nodeId, links, isUp: true, isFrozen: false };
}

/** Asks as a client does. `bringUp` is the service manager of the machine. */
async function untilServed({ daemon }: Machine, bringUp: () => Promise<void>) {
  for (let attempts = 1; attempts <= MOST_ATTEMPTS; attempts += 1) {
    await bringUp();
    const isServed = await daemon
      .fetch('/v1/api/workstreams?limit=1', { signal: AbortSignal.timeout(CLIENT_MS) })
      .then(async (answer) => (await answer.arrayBuffer()).byteLength > 0 && answer.status === 200)
      .catch(() => false); // it cannot be reached, or does not answer in time
    if (isServed) return { attempts, isServed: true };
    await systemClock.sleep(ASK_MS, new AbortController().signal);
  }
  return { attempts: MOST_ATTEMPTS, isServed: false };
}

async function stateOf({ name: machine, daemon }: Machine): Promise<ClusterEvidence['states'][number]> {
  const answer = await daemon.get('/health').catch(() => undefined);
  if (answer?.body.status === 'standby') return { machine, state: 'standby' };
  return { machine, state: answer?.status === 200 ? 'active' : 'none' };
}
