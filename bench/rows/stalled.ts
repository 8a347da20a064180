import { createGatewayClient } from '../../protocol/client/ws-client.ts';
import { workstreamEndpoints } from '../../protocol/http/workstream.ts';
import { postText } from '../load/http-connection.ts';
import type { SubscriberTasks } from '../load/subscribers.ts';
import { perCpuSecond, residentBytes } from '../process-costs.ts';
import { type Row, ratio } from '../row.ts';
import type { Product, Stage } from '../stage.ts';
import { createWorkstreams } from '../workstreams.ts';

const READING = 495;
const STALLED = 5;
/** Together larger than the system's buffers of a connection on both sides plus the daemon's buffer limit. */
const NOTES = 80;
const NOTE = 'x'.repeat(250_000);

interface Measured {
  /** Events per second of processor time, for all readers together. */
  rate: number;
  /** Events per second of real time, which shows whether readers wait for each other, but also other load. */
  byClock: number;
  mib: number;
}

/** A daemon with 495 readers, and in each round some further ones with full buffers. */
async function openDaemon(stage: Stage, stalled: number): Promise<() => Promise<Measured>> {
  const product = await stage.product();
  const { port, token, pid } = product;
  const [read = '', filler = ''] = await createWorkstreams(product, 2);
  const load = stage.load<SubscriberTasks>('subscribers');
  const fill = await openFiller(product, filler);
  await load.ask('openSockets', { port, token, topics: [read], count: READING });
  const request = postText(workstreamEndpoints.command.path, { ws_id: read, command: '/unknown' }, token);
  const times = stage.quick ? 40 : 300;
  return async () => {
    await load.ask('openStalled', { port, token, topics: [read, filler], count: stalled });
    await fill();
    await requireOpen(port, READING + stalled + 1);
    const begunMs = performance.now();
    const rate = await perCpuSecond(pid, () => load.ask('publish', { port, requests: [request], times }));
    const byClock = (times * READING * 1000) / (performance.now() - begunMs);
    const mib = residentBytes(pid) / 2 ** 20;
    await load.ask('endStalled', undefined);
    return { rate, byClock, mib };
  };
}

/** Fills a workstream with long notes. Each call resolves when all of them have arrived. */
async function openFiller({ port, token }: Product, wsId: string): Promise<() => Promise<void>> {
  const client = createGatewayClient({
    url: `ws://127.0.0.1:${port}/v1/ws`,
    token,
    client: { name: 'bench', version: '1', mode: 'cli' },
    reconnect: false, // it ends with the daemon
  });
  await client.connect();
  let left = 0;
  let told = Promise.withResolvers<void>();
  client.subscribe(wsId, {
    onSnapshot: () => undefined,
    onEvent({ type }) {
      if (type === 'info') left -= 1;
      if (left === 0) told.resolve();
    },
  });
  return async () => {
    left = NOTES;
    told = Promise.withResolvers();
    for (let n = 0; n < NOTES; n += 1) {
      await client.call('send', { to: wsId, message: NOTE, idempotencyKey: crypto.randomUUID() });
    }
    await told.promise;
  };
}

/** Fails if stalled readers were closed before the round, because it would then measure nothing. */
async function requireOpen(port: number, count: number): Promise<void> {
  const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  const open = Number(/^service_gateway_connections_active (\d+)$/m.exec(metrics)?.[1]);
  if (open !== count) throw new Error(`${open} of ${count} readers are connected`);
}

export const stalledRow: Row = {
  name: 'fan-out-stalled',
  what: `WebSocket events to ${READING}, with ${STALLED} stalled readers`,
  anchor: 'the same without stalled readers',
  unit: 'x',
  target: { atLeast: 0.9 },
  async open(stage) {
    const [beside, alone] = [await openDaemon(stage, STALLED), await openDaemon(stage, 0)];
    return async () => {
      const [product, anchor] = [await beside(), await alone()];
      return ratio(
        { product: product.rate, anchor: anchor.rate },
        {
          ...{ productByClock: product.byClock, anchorByClock: anchor.byClock },
          ...{ productMiB: product.mib, anchorMiB: anchor.mib },
        },
      );
    };
  },
};
