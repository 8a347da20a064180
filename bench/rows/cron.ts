import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { LeanSocket } from '../load/sockets.ts';
import { perCpuSecond } from '../process-costs.ts';
import type { Round, Row, Target } from '../row.ts';
import type { Product, Stage } from '../stage.ts';

/** A daemon with so many jobs, none of which is due. */
interface Scheduled extends Product {
  ids: string[];
}

/** Compares many jobs with ten. `cost` returns the processor time of one piece of work in milliseconds. */
const cronRow = (
  { name, what, target = { atMost: 1.5 } }: { name: string; what: string; target?: Target },
  cost: (daemon: Scheduled, stage: Stage) => Promise<number>,
): Row => ({
  ...{ name, what, target, unit: 'x', anchor: 'the product with 10 jobs' },
  async open(stage) {
    const [many, few] = [await scheduled(stage, stage.quick ? 1_000 : 10_000), await scheduled(stage, 10)];
    return async (): Promise<Round> => {
      const [manyMs, fewMs] = [await cost(many, stage), await cost(few, stage)];
      return { value: manyMs / fewMs, figures: { manyMs, fewMs } };
    };
  },
});

async function scheduled(stage: Stage, count: number): Promise<Scheduled> {
  const home = path.join(await stage.folder(), 'home');
  await mkdir(home, { recursive: true, mode: 0o700 });
  const ids = await (await stage.programs.seeds()).jobs(path.join(home, 'headgate.db'), count);
  return { ...(await stage.product({ home })), ids };
}

/** A connection may send 300 requests at once. */
const PER_SOCKET = 250;

/** Sends requests one after the other, over as many connections as necessary. Returns the processor time of each. */
async function askEach(
  daemon: Product,
  method: string,
  all: readonly object[],
): Promise<{ ms: number; answers: string[] }> {
  const answers: string[] = [];
  const sockets: LeanSocket[] = [];
  for (let n = 0; n < all.length; n += PER_SOCKET) sockets.push(await LeanSocket.open(daemon));
  const perSecond = await perCpuSecond(daemon.pid, async () => {
    for (const [n, params] of all.entries()) {
      const answer = await sockets[Math.floor(n / PER_SOCKET)]?.request(method, params);
      if (!answer?.includes('"ok":true')) throw new Error(`${method}: ${answer}`);
      answers.push(answer);
    }
    return all.length;
  });
  for (const socket of sockets) await socket.close();
  return { ms: 1000 / perSecond, answers };
}

const WISH = {
  schedule: { kind: 'cron', expr: '0 4 29 2 *', tz: 'Europe/Berlin' },
  ...{ sessionTarget: 'main', wakeMode: 'next-heartbeat', payload: { kind: 'systemEvent', text: 'tick' } },
};

const times = (stage: Stage): number => (stage.quick ? 100 : 500);

const addRow = cronRow({ name: 'cron-add', what: 'cron.add with 10,000 jobs' }, async (daemon, stage) => {
  const { ms, answers } = await askEach(daemon, 'cron.add', Array(times(stage)).fill(WISH));
  const ids = answers.map((answer) => JSON.parse(answer).payload.id);
  await askEach(
    daemon,
    'cron.remove',
    ids.map((id) => ({ id })),
  );
  return ms;
});

const updateRow = cronRow(
  { name: 'cron-update', what: 'cron.update of a schedule with 10,000 jobs' },
  (daemon, stage) =>
    askEach(
      daemon,
      'cron.update',
      Array.from({ length: times(stage) }, (_, n) => ({
        id: daemon.ids[(n * 7) % daemon.ids.length],
        patch: { schedule: { ...WISH.schedule, expr: `${n % 60} 4 29 2 *` } },
      })),
    ).then(({ ms }) => ms),
);

/** `cron.status` returns when the next job is due: one lookup in the heap, plus the cost of any request. */
const nextRow = cronRow(
  { name: 'cron-next', what: 'cron.status with 10,000 jobs', target: { atMost: 1.2 } },
  async (daemon, stage) => (await askEach(daemon, 'cron.status', Array(4 * times(stage)).fill({}))).ms,
);

const idleRow = cronRow({ name: 'cron-idle', what: '10,000 jobs, none of them due' }, async (daemon, stage) => {
  const secs = stage.quick ? 2 : 20;
  const perSecond = await perCpuSecond(daemon.pid, async () => {
    await sleep(secs * 1_000);
    return secs;
  });
  return 1000 / perSecond;
});

/** Adds ten jobs that are due every second, for some seconds. */
const fireRow = cronRow({ name: 'cron-fire', what: 'a due job, with 10,000 others' }, async (daemon, stage) => {
  const schedule = { kind: 'every', everyMs: 1_000, anchorMs: 0 };
  const { answers } = await askEach(daemon, 'cron.add', Array(FIRING).fill({ ...WISH, schedule }));
  const ids = answers.map((answer) => JSON.parse(answer).payload.id);
  const socket = await LeanSocket.open(daemon);
  const perSecond = await perCpuSecond(daemon.pid, () => finished(socket, stage.quick ? 20 : 100));
  await socket.close();
  await askEach(
    daemon,
    'cron.remove',
    ids.map((id) => ({ id })),
  );
  return 1000 / perSecond;
});

const FIRING = 10;

/** Resolves after the next `count` events of finished runs. */
function finished(socket: LeanSocket, count: number): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  let seen = 0;
  socket.onText = (payload) => {
    if (payload.includes('"action":"finished"') && ++seen === count) resolve(count);
  };
  return promise;
}

export const cronRows = [addRow, updateRow, nextRow, idleRow, fireRow];
