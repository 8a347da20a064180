import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { NatsServer } from '../../src/testing/nats-server.ts';
import { type PostgresServer, queryPostgres } from '../../src/testing/postgres-server.ts';
import type { MachineState, ProcessEnd, Recovery } from '../checker/cluster/cluster-evidence.ts';
import type { Random } from '../checker/random.ts';
import type { Address } from '../checker/recording/record-socket.ts';
import type { DaemonUnderTest, JsonAnswer } from '../support/daemon/daemon.ts';
import { pause } from '../support/deadline.ts';
import {
  ASK_MS,
  askUntil,
  hasWorkstream,
  type Machine,
  type MachineOptions,
  startMachine,
  stateOf,
  untilServed,
} from './machine.ts';

export interface Cluster extends AsyncDisposable {
  machines: readonly Machine[];
  workers: readonly Machine[];
  server: PostgresServer;
  bus: NatsServer;
  /** Of the database, past all links. */
  url: string;
  ends: readonly ProcessEnd[];
  /** Those of the current chapter, which the drill sets. */
  wsIds: readonly string[];
  /** Where a client goes next: any daemon, because it does not know which ones live. */
  at(): Address;
  /** Clients stop waiting for the answers of a daemon. */
  abandon(machine: Machine): void;
  /** All clients stop waiting for answers. */
  abandonAll(): void;
  post: DaemonUnderTest['post'];
  /** The machine that the lease names, whether it lives or not, and the epoch. */
  lease(): Promise<{ holder: Machine; epoch: number }>;
  /** How many workstreams a worker has, also those that are being taken over from it. */
  countAt(worker: Machine): Promise<number>;
  /** Sends a signal; an end is what the drill wants, unless it only pauses. */
  signal(machine: Machine, signal: NodeJS.Signals): void;
  /**
   * Starts the daemons that have ended. Then asks each daemon, as a client does, until it serves, and until workers have joined;
   * then for each workstream, until any daemon answers for it.
   */
  recover(asked: Pick<Recovery, 'round' | 'faults'>): Promise<Recovery[]>;
  states(): Promise<MachineState[]>;
  /** The machine whose connection with the database had this local port; `likely`, a node id, if it is one of several. */
  userOf(port: number, likely?: string): Machine | undefined;
}

interface ClusterOptions extends Omit<MachineOptions, 'storeUrl' | 'busUrl'> {
  server: PostgresServer;
  bus: NatsServer;
  url: string;
  /** How many workers there are beside the active daemon and its standby. */
  workerCount: number;
  random: Random;
}

const NAMES = { leads: ['one', 'two'], workers: ['three', 'four'] } as const;

export async function startCluster({
  server,
  bus,
  url,
  workerCount,
  random,
  ...options
}: ClusterOptions): Promise<Cluster> {
  await mkdir(path.join(options.folder, 'workspace'), { recursive: true });
  const machines: Machine[] = [];
  const { ends, watch, expectEnd } = watchProcesses();
  const { abandon, signalOf } = createPatience();
  const startOne = async (name: string, { isWorker }: Pick<Machine, 'isWorker'>) => {
    const keys = machines[0]?.daemon.home;
    const machine = await startMachine({ ...options, storeUrl: url, busUrl: bus.url }, { name, isWorker, keys });
    abandon(machine);
    watch(machine);
    await untilServed(machine, () => Promise.resolve());
    return machine;
  };
  const [first, ...others] = NAMES.leads;
  machines.push(await startOne(first, { isWorker: false })); // it makes the tables and the keys
  const further = others.map((name) => startOne(name, { isWorker: false }));
  const workers = NAMES.workers.slice(0, workerCount).map((name) => startOne(name, { isWorker: true }));
  machines.push(...(await Promise.all([...further, ...workers])));
  const bringUp = async (machine: Machine) => {
    if (machine.isUp) return;
    const isStarted = await machine.daemon.restart().then(
      () => true,
      () => false, // the database may be lost in the middle; the service manager tries again
    );
    if (isStarted) watch(machine);
  };
  const cluster: Cluster = {
    ...{ machines, server, bus, url, ends, abandon, wsIds: [] },
    workers: machines.filter(({ isWorker }) => isWorker),
    at() {
      const machine = random.pick(machines);
      const { url: to, token } = machine.daemon;
      const signal = signalOf(machine);
      return { url: to, token, ...(signal && { signal }) };
    },
    abandonAll() {
      for (const machine of machines) abandon(machine);
    },
    post: (route, body) => postUntilAnswered(() => random.pick(machines), { route, body }),
    lease: () => leaseOf(url, machines),
    countAt: (worker) => countAt(url, worker),
    signal(machine, signal) {
      if (!['SIGSTOP', 'SIGCONT', 'SIGUSR2'].includes(signal)) expectEnd(machine);
      machine.isFrozen = signal === 'SIGSTOP';
      machine.daemon.signal(signal);
    },
    async recover({ round, faults }) {
      const serving = machines.map(async (machine) => ({
        ...{ round, faults, machine: machine.name },
        ...(await untilServed(machine, () => bringUp(machine))),
      }));
      const served = await Promise.all(serving);
      const isThere = async () => {
        const found = cluster.wsIds.map((wsId) => hasWorkstream(random.pick(machines), wsId));
        return (await Promise.all(found)).every(Boolean);
      };
      return [...served, { round, faults, machine: 'all workstreams', ...(await askUntil(isThere)) }];
    },
    states: () => Promise.all(machines.map(stateOf)),
    userOf(port, likely) {
      const used = machines.flatMap((machine) => {
        const atMs = machine.links.database.usedAt(port);
        return atMs === undefined ? [] : [{ machine, atMs }];
      });
      const newestFirst = used.sort((one, other) => other.atMs - one.atMs).map(({ machine }) => machine);
      return newestFirst.find(({ nodeId }) => nodeId === likely) ?? newestFirst[0];
    },
    async [Symbol.asyncDispose]() {
      for (const { daemon } of machines) await daemon[Symbol.asyncDispose]();
    },
  };
  return cluster;
}

/** Notes the ends of processes. */
function watchProcesses() {
  const ends: ProcessEnd[] = [];
  const asked = new WeakSet<Machine>();
  return {
    ends,
    /** The drill ends it. */
    expectEnd: (machine: Machine): void => void asked.add(machine),
    /** Until its process ends. */
    watch(machine: Machine): void {
      machine.isUp = true;
      machine.isFrozen = false;
      asked.delete(machine);
      const { daemon, name } = machine;
      void daemon.exited().then(({ code }) => {
        machine.isUp = false;
        ends.push({ machine: name, code, isAsked: asked.has(machine), stderr: daemon.output().stderr });
      });
    },
  };
}

/** How long clients wait for each daemon. */
function createPatience() {
  const waiting = new Map<Machine, AbortController>();
  return {
    abandon(machine: Machine): void {
      waiting.get(machine)?.abort();
      waiting.set(machine, new AbortController());
    },
    signalOf: (machine: Machine): AbortSignal | undefined => waiting.get(machine)?.signal,
  };
}

async function leaseOf(url: string, machines: readonly Machine[]): ReturnType<Cluster['lease']> {
  for (;;) {
    const sql = "select node_id, epoch::int from headgate.leases where name = 'daemon'";
    const rows = await queryPostgres(url, sql).catch(() => undefined);
    const [row] = rows ?? [];
    const holder = machines.find(({ nodeId }) => nodeId === row?.node_id);
    if (holder) return { holder, epoch: Number(row?.epoch) };
    if (rows) throw new Error(`nobody of the cluster holds the lease, but ${row?.node_id}`);
    await pause(ASK_MS); // the database is away
  }
}

async function countAt(url: string, { nodeId }: Machine): Promise<number> {
  for (;;) {
    const sql = `select count(*) from headgate.workstreams where machine in ('${nodeId}', 'moving ${nodeId}')`;
    const rows = await queryPostgres(url, sql).catch(() => undefined);
    if (rows) return Number(rows[0]?.count);
    await pause(ASK_MS); // the database is away
  }
}

/** 404: a worker that was named has not joined again yet. */
async function postUntilAnswered(pick: () => Machine, { route, body }: { route: string; body: unknown }) {
  for (;;) {
    const answer: JsonAnswer | undefined = await pick()
      .daemon.post(route, body)
      .catch(() => undefined);
    if (answer !== undefined && answer.status < 500 && answer.status !== 404) return answer;
    await pause(ASK_MS);
  }
}
