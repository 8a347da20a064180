import { workstreamEndpoints } from '../../protocol/http/workstream.ts';
import { postText } from '../load/http-connection.ts';
import type { SubscriberTasks } from '../load/subscribers.ts';
import { perCpuSecond } from '../process-costs.ts';
import { type Round, type Row, ratio, type Target } from '../row.ts';
import type { Stage } from '../stage.ts';
import { createWorkstreams } from '../workstreams.ts';

/** A request that creates one event, which is stored and sent to all: an unknown command is answered with one. */
const publishText = (wsId: string, token: string): string =>
  postText(workstreamEndpoints.command.path, { ws_id: wsId, command: `/${'unknown'.repeat(8)}` }, token);

interface FanOut {
  subscribers: number;
  inFlight: number;
  /** In PostgreSQL; default: the product stores in a file, and the anchor nothing. */
  databases?: { product: string; anchor: string };
}

/** The anchor sends exactly the text that the product's subscribers received. */
const socketRow = ({ target, ...load }: FanOut & { target: Target }): Row => ({
  name: `fan-out-${load.subscribers}-${load.inFlight}`,
  what: `WebSocket events to ${load.subscribers.toLocaleString('en')}, ${load.inFlight} in flight`,
  anchor: 'bare ws, send(string) to each',
  unit: 'x',
  target,
  open: (stage) => openFanOut(stage, load),
});

/** Both servers with their subscribers. */
export async function openFanOut(
  stage: Stage,
  { subscribers, inFlight, databases }: FanOut,
): Promise<() => Promise<Round>> {
  const product = await stage.product(
    databases && { env: { HEADGATE_MODEL: 'demo', HEADGATE_STORE_URL: databases.product } },
  );
  const anchor = await stage.anchor('fan-out', databases && { DATABASE_URL: databases.anchor });
  const loads = {
    product: stage.load<SubscriberTasks>('subscribers'),
    anchor: stage.load<SubscriberTasks>('subscribers'),
  };
  const topics = await createWorkstreams(product, inFlight);
  const { port, token } = product;
  await loads.product.ask('openSockets', { port, token, topics, count: subscribers });
  await loads.anchor.ask('openSockets', { port: anchor.port, topics: [], count: subscribers });
  const requests = topics.map((wsId) => publishText(wsId, token));
  await loads.product.ask('publish', { port, requests, times: 1 });
  const copies = topics.map(() => '');
  copies.fill(postRaw('/', await loads.product.ask('sample', undefined)));
  const times = Math.ceil((stage.quick ? 40_000 : 200_000) / subscribers / inFlight);
  return async () =>
    ratio({
      product: await perCpuSecond(product.pid, () => loads.product.ask('publish', { port, requests, times })),
      anchor: await perCpuSecond(anchor.pid, () =>
        loads.anchor.ask('publish', { port: anchor.port, requests: copies, times }),
      ),
    });
}

const postRaw = (path: string, text: string): string =>
  `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`;

const streamRow: Row = {
  name: 'sse-500',
  what: 'SSE events to 500',
  anchor: 'node:http, write(string) to each',
  unit: 'x',
  target: { atLeast: 0.95 },
  async open(stage) {
    const [product, anchor] = [await stage.product(), await stage.anchor('fan-out')];
    const loads = {
      product: stage.load<SubscriberTasks>('subscribers'),
      anchor: stage.load<SubscriberTasks>('subscribers'),
    };
    const [wsId = ''] = await createWorkstreams(product, 1);
    const { port, token } = product;
    await loads.product.ask('openStreams', { port, token, path: `/v1/api/events?ws_id=${wsId}`, count: 500 });
    await loads.anchor.ask('openStreams', { port: anchor.port, token, path: '/', count: 500 });
    const requests = [publishText(wsId, token)];
    await loads.product.ask('publish', { port, requests, times: 1 });
    const copies = [postRaw('/sse', frameOf(await loads.product.ask('sample', undefined)))];
    const times = stage.quick ? 100 : 500;
    return async () =>
      ratio({
        product: await perCpuSecond(product.pid, () => loads.product.ask('publish', { port, requests, times })),
        anchor: await perCpuSecond(anchor.pid, () =>
          loads.anchor.ask('publish', { port: anchor.port, requests: copies, times }),
        ),
      });
  },
};

/** A complete frame of a part of a stream. */
const frameOf = (text: string): string => /id: \S+\ndata: [^\n]*\n\n/.exec(text)?.[0] ?? '';

export const fanOutRows = [
  socketRow({ subscribers: 500, inFlight: 1, target: { atLeast: 1.25 } }),
  socketRow({ subscribers: 500, inFlight: 4, target: { atLeast: 2.2 } }),
  socketRow({ subscribers: 2_000, inFlight: 1, target: { atLeast: 1.25 } }),
  socketRow({ subscribers: 2_000, inFlight: 4, target: { atLeast: 2.2 } }),
  streamRow,
];
