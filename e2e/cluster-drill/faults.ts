import { systemClock } from '../../src/clock.ts';
import { queryPostgres } from '../../src/testing/postgres-server.ts';
import type { Random } from '../checker/random.ts';
import type { Cluster, Machine } from './cluster.ts';

/** One thing that fails in a round. */
export interface Fault {
  name: string;
  /** Storing may fail or take long meanwhile, so that the record of an end follows later (decision 29). */
  isOutage?: boolean;
  /** Begins it, and ends it. Processes that ended stay down. */
  strike(cluster: Cluster, random: Random): Promise<void>;
}

const wait = (ms: number) => systemClock.sleep(ms, new AbortController().signal);

/** A lease lasts six seconds, and the machine may be busy. */
const MOST_WAIT_MS = 20_000;
const POLL_MS = 100;

async function waitFor(isSo: () => boolean | Promise<boolean>): Promise<void> {
  const latestMs = performance.now() + MOST_WAIT_MS;
  while (performance.now() < latestMs && !(await isSo())) await wait(POLL_MS);
}

/** Until another daemon holds the lease, or long enough for that. */
const takenOver = (cluster: Cluster, before: number) => waitFor(async () => (await cluster.lease()).epoch > before);

const down = (machine: Machine) => waitFor(() => !machine.isUp);

async function standby(cluster: Cluster, random: Random): Promise<Machine> {
  const { holder } = await cluster.lease();
  return random.pick(cluster.machines.filter((machine) => machine !== holder));
}

async function end(cluster: Cluster, machine: Machine, signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
  cluster.signal(machine, signal);
  await down(machine);
}

/** Its clients wait for a while and then go elsewhere. */
async function freeze(cluster: Cluster, machine: Machine, until: () => Promise<void>): Promise<void> {
  cluster.signal(machine, 'SIGSTOP');
  const over = new AbortController();
  const givingUp = async () => {
    while (!over.signal.aborted) {
      await systemClock.sleep(PATIENCE_MS, over.signal).catch(() => undefined);
      if (!over.signal.aborted) cluster.abandon(machine);
    }
  };
  const clients = givingUp();
  await until();
  over.abort();
  await clients;
  cluster.signal(machine, 'SIGCONT');
}

const PATIENCE_MS = 1_000;

async function freezeHolder(cluster: Cluster, random: Random): Promise<void> {
  const { holder, epoch } = await cluster.lease();
  await freeze(cluster, holder, async () => {
    await takenOver(cluster, epoch);
    await wait(random.int(0, 1_500));
  });
  if ((await cluster.lease()).holder !== holder) await down(holder);
}

/** Asks again while another fault of the same round keeps the database away. */
async function askDatabase(url: string, sql: string): ReturnType<typeof queryPostgres> {
  let rows: Awaited<ReturnType<typeof queryPostgres>> | undefined;
  await waitFor(async () => {
    rows = await queryPostgres(url, sql).catch(() => undefined);
    return rows !== undefined;
  });
  return rows ?? queryPostgres(url, sql);
}

/** The sessions of one daemon with PostgreSQL. */
async function sessionsOf({ url }: Cluster, { links }: Machine): Promise<number[]> {
  const rows = await askDatabase(
    url,
    `select pid, client_port from pg_stat_activity where client_port > 0 and pid <> pg_backend_pid()`,
  );
  return rows.flatMap(({ pid, client_port: port }) => (links.database.isOwn(Number(port)) ? [Number(pid)] : []));
}

function signalTo(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // it has ended
  }
}

/** Until the link is closed for that long, or for so long that another daemon takes over. */
async function lasting(cluster: Cluster, random: Random): Promise<void> {
  const { epoch } = await cluster.lease();
  if (random.chance(0.4)) await takenOver(cluster, epoch);
  else await wait(random.int(100, 3_000));
}

const WAYS = [['out'], ['back'], ['out', 'back']] as const;

async function restartDatabase({ server }: Cluster, random: Random, how: 'kill' | 'stop'): Promise<void> {
  await server[how]();
  await wait(random.int(0, 1_500));
  await server.start();
}

/** In these, another daemon takes over, or may. */
export const FAULTS: readonly Fault[] = [
  {
    name: 'kill active',
    async strike(cluster) {
      const { holder, epoch } = await cluster.lease();
      await end(cluster, holder, 'SIGKILL');
      await takenOver(cluster, epoch);
    },
  },
  {
    name: 'kill active, start it again at once',
    strike: async (cluster) => end(cluster, (await cluster.lease()).holder, 'SIGKILL'),
  },
  {
    name: 'kill standby',
    async strike(cluster, random) {
      await end(cluster, await standby(cluster, random), 'SIGKILL');
      await wait(random.int(0, 500));
    },
  },
  {
    name: 'stop active',
    strike: async (cluster) => end(cluster, (await cluster.lease()).holder, 'SIGTERM'),
  },
  {
    name: 'drain active',
    async strike(cluster) {
      const { holder, epoch } = await cluster.lease();
      cluster.signal(holder, 'SIGUSR2');
      await takenOver(cluster, epoch);
    },
  },
  { name: 'freeze active for longer than its lease', isOutage: true, strike: freezeHolder },
  {
    name: 'freeze active for a moment',
    isOutage: true,
    strike: async (cluster, random) =>
      freeze(cluster, (await cluster.lease()).holder, () => wait(random.int(100, 3_500))),
  },
  {
    name: 'freeze standby',
    strike: async (cluster, random) =>
      freeze(cluster, await standby(cluster, random), () => wait(random.int(500, 7_500))),
  },
  {
    name: 'end sessions of the database',
    isOutage: true,
    async strike(cluster, random) {
      const machine = random.chance(0.7) ? (await cluster.lease()).holder : await standby(cluster, random);
      const pids = await sessionsOf(cluster, machine);
      await askDatabase(cluster.url, `select pg_terminate_backend(pid) from unnest('{${pids.join()}}'::int[]) as pid`);
    },
  },
  {
    name: 'freeze sessions of the database',
    isOutage: true,
    async strike(cluster, random) {
      const machine = random.chance(0.7) ? (await cluster.lease()).holder : await standby(cluster, random);
      const pids = await sessionsOf(cluster, machine);
      for (const pid of pids) signalTo(pid, 'SIGSTOP');
      await wait(random.int(200, 8_000));
      for (const pid of pids) signalTo(pid, 'SIGCONT');
    },
  },
  {
    name: 'kill database',
    isOutage: true,
    strike: (cluster, random) => restartDatabase(cluster, random, 'kill'),
  },
  {
    name: 'restart database',
    isOutage: true,
    strike: (cluster, random) => restartDatabase(cluster, random, 'stop'),
  },
  {
    name: 'cut active from the database',
    isOutage: true,
    async strike(cluster, random) {
      const { database } = (await cluster.lease()).holder.links;
      database.cut();
      await lasting(cluster, random);
      database.heal();
    },
  },
  {
    name: 'silence between active and the database',
    isOutage: true,
    async strike(cluster, random) {
      const { database } = (await cluster.lease()).holder.links;
      database.stall(random.pick(WAYS));
      await lasting(cluster, random);
      database.heal();
    },
  },
  {
    name: 'cut standby from the database',
    async strike(cluster, random) {
      const { database } = (await standby(cluster, random)).links;
      if (random.chance(0.5)) database.cut();
      else database.stall(random.pick(WAYS));
      await wait(random.int(100, 4_000));
      database.heal();
    },
  },
  {
    name: 'cut active from the standbys',
    async strike(cluster, random) {
      const { inbound } = (await cluster.lease()).holder.links;
      if (random.chance(0.5)) inbound.cut();
      else inbound.stall(random.pick(WAYS));
      await wait(random.int(100, 4_000));
      inbound.heal();
    },
  },
  {
    name: 'slow links',
    async strike({ machines }, random) {
      const links = machines.flatMap((machine) => Object.values(machine.links));
      for (const link of links) link.slow(random.int(5, 120));
      await wait(random.int(500, 3_000));
      for (const link of links) link.heal();
    },
  },
];
