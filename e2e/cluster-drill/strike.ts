import { systemClock } from '../../src/clock.ts';
import { queryPostgres } from '../../src/testing/postgres-server.ts';
import type { Random } from '../checker/random.ts';
import type { Cluster } from './cluster.ts';
import type { Link } from './link.ts';
import type { Machine } from './machine.ts';

/** One thing that fails in a round. */
export interface Fault {
  name: string;
  /** Storing may fail or take long meanwhile, so that the record of an end follows later (decision 29). */
  isOutage?: boolean;
  /** It ends this server, which two faults cannot do at once. */
  endsServer?: 'database' | 'bus';
  /** Begins it, and ends it. Processes that ended stay down. */
  strike(cluster: Cluster, random: Random): Promise<void>;
}

export const wait = (ms: number) => systemClock.sleep(ms, new AbortController().signal);

/** A lease lasts six seconds, and the machine may be busy. */
const MOST_WAIT_MS = 20_000;
const POLL_MS = 100;

export async function waitFor(isSo: () => boolean | Promise<boolean>): Promise<void> {
  const latestMs = performance.now() + MOST_WAIT_MS;
  while (performance.now() < latestMs && !(await isSo())) await wait(POLL_MS);
}

/** Until another daemon holds the lease, or long enough for that. */
export const takenOver = (cluster: Cluster, before: number) =>
  waitFor(async () => (await cluster.lease()).epoch > before);

export const down = (machine: Machine) => waitFor(() => !machine.isUp);

export const active = async (cluster: Cluster): Promise<Machine> => (await cluster.lease()).holder;

export async function standby(cluster: Cluster, random: Random): Promise<Machine> {
  const holder = await active(cluster);
  return random.pick(cluster.machines.filter((machine) => machine !== holder && !machine.isWorker));
}

/** Any daemon, mostly the active one. */
export async function anyMachine(cluster: Cluster, random: Random): Promise<Machine> {
  return random.chance(0.5) ? active(cluster) : random.pick(cluster.machines);
}

export async function end(cluster: Cluster, machine: Machine, signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
  cluster.signal(machine, signal);
  await down(machine);
}

/** Its clients wait for a while and then go elsewhere. */
export async function freeze(cluster: Cluster, machine: Machine, until: () => Promise<void>): Promise<void> {
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

/** Asks again while another fault of the same round keeps the database away. */
export async function askDatabase(url: string, sql: string): ReturnType<typeof queryPostgres> {
  let rows: Awaited<ReturnType<typeof queryPostgres>> | undefined;
  await waitFor(async () => {
    rows = await queryPostgres(url, sql).catch(() => undefined);
    return rows !== undefined;
  });
  return rows ?? queryPostgres(url, sql);
}

/** The sessions of one daemon with PostgreSQL. */
export async function sessionsOf(cluster: Cluster, machine: Machine): Promise<number[]> {
  const rows = await askDatabase(
    cluster.url,
    `select pid, client_port from pg_stat_activity where client_port > 0 and pid <> pg_backend_pid()`,
  );
  return rows.flatMap(({ pid, client_port: port }) => (cluster.userOf(Number(port)) === machine ? [Number(pid)] : []));
}

export function signalTo(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // it has ended
  }
}

export const WAYS = [['out'], ['back'], ['out', 'back']] as const;

/** Refuses connections, or passes nothing in one direction or both. */
export function sever(link: Link, random: Random): void {
  if (random.chance(0.5)) link.cut();
  else link.stall(random.pick(WAYS));
}
