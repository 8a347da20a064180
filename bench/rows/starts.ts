import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type DaemonProcess, spawnHeadgate } from '../../e2e/support/daemon/daemon-process.ts';
import { LeanSocket } from '../load/sockets.ts';
import { residentBytes } from '../process-costs.ts';
import { type Row, ratio } from '../row.ts';
import { kill, productEnv, type Stage } from '../stage.ts';

const startRow: Row = {
  name: 'start',
  what: 'from the start of the process to the first hello',
  anchor: 'bare ws',
  unit: 'x',
  target: { atMost: 4 },
  async open(stage) {
    const { home, token } = await usedHome(stage);
    return async () =>
      ratio({
        product: await startedMs((port) => spawnProduct(stage, { home, port }), token),
        anchor: await startedMs((port) => spawnAnchor(stage, port)),
      });
  },
};

const readyRow: Row = {
  name: 'ready',
  what: 'ready again after kill -9, 10,000 workstreams and 1,000,000 messages stored',
  anchor: 'the clock',
  unit: 's',
  target: { atMost: 2 },
  async open(stage) {
    const { home, token } = await usedHome(stage);
    const workstreams = stage.quick ? 1_000 : 10_000;
    await (await stage.programs.seeds()).database(path.join(home, 'headgate.db'), {
      workstreams,
      messagesEach: 100,
      eventsEach: 20,
    });
    return async () => {
      const tookMs = await startedMs((port) => spawnProduct(stage, { home, port }), token);
      return { value: tookMs / 1000, figures: { tookMs, workstreams, messages: workstreams * 100 } };
    };
  },
};

const jobsRow: Row = {
  name: 'ready-jobs',
  what: 'ready again after kill -9 with 10,000 scheduled jobs',
  anchor: 'the product without jobs',
  unit: 'x',
  target: { atMost: 1.25 },
  async open(stage) {
    const [many, none] = [await usedHome(stage), await usedHome(stage)];
    await (await stage.programs.seeds()).jobs(path.join(many.home, 'headgate.db'), stage.quick ? 1_000 : 10_000);
    const tookMs = ({ home, token }: { home: string; token: string }) =>
      startedMs((port) => spawnProduct(stage, { home, port }), token);
    return async () => ratio({ product: await tookMs(many), anchor: await tookMs(none) });
  },
};

const idleRow: Row = {
  name: 'idle-memory',
  what: 'memory of an idle daemon that was started before',
  anchor: 'bare ws',
  unit: 'x',
  target: { atMost: 1.65 },
  maxRounds: 3,
  async open(stage) {
    const afterMs = stage.quick ? 1_000 : 15_000; // its garbage was collected
    const { home } = await usedHome(stage);
    return async () => {
      const product = await spawnProduct(stage, { home, port: await freePort() });
      await product.printed(/^Headgate /m);
      const anchor = await stage.anchor('echo');
      await sleep(afterMs);
      const resident = ratio({ product: residentBytes(product.pid), anchor: residentBytes(anchor.pid) });
      await kill(product);
      return resident;
    };
  },
};

export const startRows = [startRow, readyRow, jobsRow, idleRow];

/** A home in which a daemon was started and stopped twice, so that it has a compile cache. */
async function usedHome(stage: Stage): Promise<{ home: string; token: string }> {
  const home = path.join(await stage.folder(), 'home');
  await mkdir(home, { mode: 0o700 });
  let token = '';
  for (let n = 0; n < 2; n += 1) {
    const child = await spawnProduct(stage, { home, port: await freePort() });
    await child.printed(/^Headgate /m);
    token = await stage.credentialOf(home);
    child.kill('SIGTERM');
    await child.exited;
  }
  return { home, token };
}

/** Starts a server, waits for the first hello (without a token, for the first upgrade), and kills it. */
async function startedMs(start: (port: number) => Promise<DaemonProcess>, token?: string): Promise<number> {
  const port = await freePort();
  const beganMs = performance.now();
  const child = await start(port);
  const socket = await firstSocket({ port, ...(token !== undefined && { token }) }, child);
  const tookMs = performance.now() - beganMs;
  await kill(child);
  await socket.close();
  return tookMs;
}

async function firstSocket(target: { port: number; token?: string }, server: DaemonProcess): Promise<LeanSocket> {
  const opening = new AbortController();
  const ended = server.exited.then(() => {
    opening.abort(new Error(`the server ended instead of starting: ${server.stderr().trim()}`));
  });
  for (;;) {
    opening.signal.throwIfAborted();
    try {
      return await LeanSocket.open(target);
    } catch {
      await Promise.race([sleep(2), ended]); // not listening yet
    }
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address ? address.port : 0;
}

const spawnProduct = ({ programs }: Stage, { home, port }: { home: string; port: number }) =>
  spawnHeadgate({
    entry: programs.product,
    args: ['start', '--port', String(port), '--home', home],
    env: productEnv(home),
  });

const spawnAnchor = ({ programs }: Stage, port: number) =>
  spawnHeadgate({ entry: programs.anchor('echo'), args: [], env: { PORT: String(port) } });
