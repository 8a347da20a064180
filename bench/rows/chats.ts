import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TelegramTasks } from '../load/telegram.ts';
import { perCpuSecond } from '../process-costs.ts';
import { median, type Row, ratio } from '../row.ts';
import type { Product, Stage } from '../stage.ts';
import type { TaskProcess } from '../task-process.ts';

const CHATS = 10_000;
const chatsOn = ({ quick }: Stage): number => (quick ? 500 : CHATS);

interface Served {
  load: TaskProcess<TelegramTasks>;
  apiRoot: string;
  modelUrl: string;
}

async function serve(stage: Stage): Promise<Served> {
  const load = stage.load<TelegramTasks>('telegram');
  return { load, ...(await load.ask('serve', undefined)) };
}

const tokenOf = (name: string): string => `4242:${name.padEnd(30, '_')}`;

/** A daemon with so many stored chats, whose bot polls. */
async function withChats(
  stage: Stage,
  { apiRoot, modelUrl }: Served,
  { name, count }: { name: string; count: number },
): Promise<Product> {
  const home = path.join(await stage.folder(), 'home');
  await mkdir(home, { recursive: true, mode: 0o700 });
  await (await stage.programs.seeds()).chats(path.join(home, 'headgate.db'), count);
  const telegram = { botToken: tokenOf(name), apiRoot, dmPolicy: 'open', allowFrom: ['*'] };
  return stage.product({ home, config: { channels: { telegram } }, env: { OPENAI_BASE_URL: modelUrl } });
}

const runRow: Row = {
  name: 'chat-run',
  what: 'a message at Telegram, until the model is called, with 10,000 stored chats',
  anchor: 'a bare bot: poll, one SQLite row, call of the model',
  unit: 'x',
  target: { atMost: 12 },
  beside: [
    { figure: 'product', label: 'p50', unit: 'ms', target: { atMost: 10 } },
    { figure: 'p99Ms', label: 'p99', unit: 'ms' },
    { figure: 'cpuMs', label: 'processor time until it is answered', unit: 'ms' },
  ],
  async open(stage) {
    const served = await serve(stage);
    const { apiRoot, modelUrl, load } = served;
    const count = chatsOn(stage);
    const { pid } = await withChats(stage, served, { name: 'product', count });
    const env = { API_ROOT: apiRoot, TOKEN: tokenOf('anchor'), MODEL_URL: modelUrl };
    await stage.anchor('poll', { ...env, DATABASE: path.join(await stage.folder(), 'anchor.db') });
    const first = (await stage.programs.seeds()).firstPerson;
    let round = 0;
    return async () => {
      round += 1;
      // Other people in each round, so that their conversations are closed.
      const people = Array.from(
        { length: stage.quick ? 20 : 200 },
        (_, index) => first + ((index * 37 + round * 211) % count),
      );
      let product: number[] = [];
      const perSecond = await perCpuSecond(pid, async () => {
        product = await load.ask('messages', { token: tokenOf('product'), people });
        return people.length;
      });
      const anchor = await load.ask('messages', { token: tokenOf('anchor'), people });
      const p99Ms = product.toSorted((a, b) => a - b)[Math.floor(product.length * 0.99)] ?? 0;
      return ratio({ product: median(product), anchor: median(anchor) }, { p99Ms, cpuMs: 1_000 / perSecond });
    };
  },
};

const idleRow: Row = {
  name: 'chats-idle',
  what: '10,000 stored chats, in none of which anybody writes',
  anchor: 'the product with 10 chats',
  unit: 'x',
  target: { atMost: 1.5 },
  async open(stage) {
    const served = await serve(stage);
    const many = await withChats(stage, served, { name: 'many', count: chatsOn(stage) });
    const few = await withChats(stage, served, { name: 'few', count: 10 });
    const secs = stage.quick ? 2 : 20;
    const cost = async ({ pid }: Product) => {
      const perSecond = await perCpuSecond(pid, async () => {
        await sleep(secs * 1_000);
        return secs;
      });
      return 1_000 / perSecond;
    };
    return async () => ratio({ product: await cost(many), anchor: await cost(few) });
  },
};

export const chatRows = [runRow, idleRow];
