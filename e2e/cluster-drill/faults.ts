import type { Random } from '../checker/random.ts';
import type { Cluster } from './cluster.ts';
import {
  active,
  anyMachine,
  askDatabase,
  down,
  end,
  type Fault,
  freeze,
  sessionsOf,
  sever,
  signalTo,
  standby,
  takenOver,
  WAYS,
  wait,
} from './strike.ts';
import { MOVES, WORKER_FAULTS } from './worker-faults.ts';

/** Until the link is closed for that long, or for so long that another daemon takes over. */
async function lasting(cluster: Cluster, random: Random): Promise<void> {
  const { epoch } = await cluster.lease();
  if (random.chance(0.4)) await takenOver(cluster, epoch);
  else await wait(random.int(100, 3_000));
}

async function freezeHolder(cluster: Cluster, random: Random): Promise<void> {
  const { holder, epoch } = await cluster.lease();
  await freeze(cluster, holder, async () => {
    await takenOver(cluster, epoch);
    await wait(random.int(0, 1_500));
  });
  if ((await cluster.lease()).holder !== holder) await down(holder);
}

async function restartDatabase({ server }: Cluster, random: Random, how: 'kill' | 'stop'): Promise<void> {
  await server[how]();
  await wait(random.int(0, 1_500));
  await server.start();
}

/** In most of these, another daemon takes over, or may. */
const DAEMON_FAULTS: readonly Fault[] = [
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
    strike: async (cluster) => end(cluster, await active(cluster), 'SIGKILL'),
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
    strike: async (cluster) => end(cluster, await active(cluster), 'SIGTERM'),
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
    strike: async (cluster, random) => freeze(cluster, await active(cluster), () => wait(random.int(100, 3_500))),
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
      const pids = await sessionsOf(cluster, await anyMachine(cluster, random));
      await askDatabase(cluster.url, `select pg_terminate_backend(pid) from unnest('{${pids.join()}}'::int[]) as pid`);
    },
  },
  {
    name: 'freeze sessions of the database',
    isOutage: true,
    async strike(cluster, random) {
      const pids = await sessionsOf(cluster, await anyMachine(cluster, random));
      for (const pid of pids) signalTo(pid, 'SIGSTOP');
      await wait(random.int(200, 8_000));
      for (const pid of pids) signalTo(pid, 'SIGCONT');
    },
  },
  {
    name: 'kill database',
    isOutage: true,
    endsServer: 'database',
    strike: (cluster, random) => restartDatabase(cluster, random, 'kill'),
  },
  {
    name: 'restart database',
    isOutage: true,
    endsServer: 'database',
    strike: (cluster, random) => restartDatabase(cluster, random, 'stop'),
  },
  {
    name: 'cut active from the database',
    isOutage: true,
    async strike(cluster, random) {
      const { database } = (await active(cluster)).links;
      database.cut();
      await lasting(cluster, random);
      database.heal();
    },
  },
  {
    name: 'silence between active and the database',
    isOutage: true,
    async strike(cluster, random) {
      const { database } = (await active(cluster)).links;
      database.stall(random.pick(WAYS));
      await lasting(cluster, random);
      database.heal();
    },
  },
  {
    name: 'cut standby from the database',
    async strike(cluster, random) {
      const { database } = (await standby(cluster, random)).links;
      sever(database, random);
      await wait(random.int(100, 4_000));
      database.heal();
    },
  },
  {
    name: 'cut active from the standbys',
    async strike(cluster, random) {
      const { inbound } = (await active(cluster)).links;
      sever(inbound, random);
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

export const FAULTS: readonly Fault[] = [...DAEMON_FAULTS, ...WORKER_FAULTS];

/** One, sometimes another one at the same time, and sometimes workstreams move meanwhile. */
export function pickFaults(faults: readonly Fault[], random: Random): Fault[] {
  const first = random.pick(faults);
  const second = random.chance(0.3) ? random.pick(faults) : undefined;
  const moving = random.chance(0.25) ? faults.find((fault) => fault === MOVES) : undefined;
  const areTwo = second !== undefined && (second.endsServer === undefined || second.endsServer !== first.endsServer);
  return [...new Set([first, areTwo ? second : undefined, moving])].filter((fault) => fault !== undefined);
}
