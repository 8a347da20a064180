import type { Random } from '../checker/random.ts';
import type { Cluster } from './cluster.ts';
import { askToMove, type Machine } from './machine.ts';
import { active, down, end, type Fault, freeze, sever, takenOver, wait, waitFor } from './strike.ts';

/** One that has workstreams, if there is one. */
async function worker(cluster: Cluster, random: Random): Promise<Machine> {
  const counts = await Promise.all(cluster.workers.map((machine) => cluster.countAt(machine)));
  const busy = cluster.workers.filter((_, index) => counts[index] !== 0);
  return random.pick(busy.length > 0 ? busy : cluster.workers);
}

/** Until the active daemon has taken over what the worker had, or long enough for that. */
const relieved = (cluster: Cluster, machine: Machine) => waitFor(async () => (await cluster.countAt(machine)) === 0);

/** Longer than a lease, and sometimes for as long as connections survive. */
const LONG_MS = 30_000;

async function freezeWorker(cluster: Cluster, random: Random): Promise<void> {
  const machine = await worker(cluster, random);
  const had = await cluster.countAt(machine);
  await freeze(cluster, machine, async () => {
    const fromMs = performance.now();
    await relieved(cluster, machine);
    await wait(random.chance(0.15) ? LONG_MS - (performance.now() - fromMs) : random.int(0, 1_500));
  });
  // Nobody ends the lease of one that had nothing; then it goes on.
  if (had > 0 && (await cluster.countAt(machine)) === 0) await down(machine);
}

/** Until the link is closed for that long, or for so long that the active daemon takes over. */
const lasting = (cluster: Cluster, machine: Machine, random: Random): Promise<void> =>
  random.chance(0.4) ? relieved(cluster, machine) : wait(random.int(100, 3_000));

async function loseBus({ bus }: Cluster, ms: number): Promise<void> {
  await bus.kill();
  await wait(ms);
  await bus.start();
}

/** Some cannot move: those that run or have children, and coordinators. */
async function moveWorkstreams(cluster: Cluster, random: Random): Promise<void> {
  const untilMs = performance.now() + random.int(1_000, 4_000);
  while (performance.now() < untilMs) {
    const { holder } = await cluster.lease();
    const to = random.pick([holder, ...cluster.workers]);
    await askToMove(random.pick(cluster.machines), random.pick(cluster.wsIds), to).catch(() => undefined); // it is down
  }
}

export const MOVES: Fault = { name: 'move workstreams', strike: moveWorkstreams };

/** In these, the active daemon takes over from a worker, or may, or cannot reach it. */
export const WORKER_FAULTS: readonly Fault[] = [
  {
    name: 'kill worker',
    async strike(cluster, random) {
      const machine = await worker(cluster, random);
      await end(cluster, machine, 'SIGKILL');
      await relieved(cluster, machine);
    },
  },
  {
    name: 'kill worker, start it again at once',
    strike: async (cluster, random) => end(cluster, await worker(cluster, random), 'SIGKILL'),
  },
  {
    name: 'kill worker and active',
    async strike(cluster, random) {
      const { holder, epoch } = await cluster.lease();
      const machine = await worker(cluster, random);
      await Promise.all([end(cluster, machine, 'SIGKILL'), end(cluster, holder, 'SIGKILL')]);
      await takenOver(cluster, epoch);
      if (random.chance(0.5)) await relieved(cluster, machine);
    },
  },
  {
    name: 'kill worker while it is taken over, and active',
    async strike(cluster, random) {
      const { holder, epoch } = await cluster.lease();
      const machine = await worker(cluster, random);
      await end(cluster, machine, 'SIGKILL');
      await wait(random.int(4_500, 7_500)); // its lease ends
      await end(cluster, holder, 'SIGKILL');
      await takenOver(cluster, epoch);
    },
  },
  {
    name: 'stop worker',
    async strike(cluster, random) {
      const machine = await worker(cluster, random);
      await end(cluster, machine, 'SIGTERM');
      await relieved(cluster, machine);
    },
  },
  {
    name: 'stop worker, start it again at once',
    strike: async (cluster, random) => end(cluster, await worker(cluster, random), 'SIGTERM'),
  },
  { name: 'freeze worker for longer than its lease', isOutage: true, strike: freezeWorker },
  {
    name: 'freeze worker for a moment',
    isOutage: true,
    strike: async (cluster, random) =>
      freeze(cluster, await worker(cluster, random), () => wait(random.int(100, 3_500))),
  },
  MOVES,
  {
    name: 'kill bus',
    endsServer: 'bus',
    strike: (cluster, random) => loseBus(cluster, random.int(0, 500)),
  },
  {
    name: 'stop bus for a while',
    endsServer: 'bus',
    strike: (cluster, random) => loseBus(cluster, random.int(1_000, 9_000)),
  },
  {
    name: 'cut worker from the database',
    isOutage: true,
    async strike(cluster, random) {
      const machine = await worker(cluster, random);
      sever(machine.links.database, random);
      await lasting(cluster, machine, random);
      machine.links.database.heal();
    },
  },
  {
    name: 'cut worker from the bus',
    async strike(cluster, random) {
      const { bus } = (await worker(cluster, random)).links;
      sever(bus, random);
      await wait(random.int(100, 6_000));
      bus.heal();
    },
  },
  {
    name: 'cut active from the bus',
    async strike(cluster, random) {
      const { bus } = (await active(cluster)).links;
      sever(bus, random);
      await wait(random.int(100, 6_000));
      bus.heal();
    },
  },
];
