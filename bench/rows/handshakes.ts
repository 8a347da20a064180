import { createGatewayClient } from '../../protocol/client/ws-client.ts';
import { LIMITS } from '../../protocol/limits.ts';
import type { HandshakeTasks } from '../load/handshakes.ts';
import { perCpuSecond } from '../process-costs.ts';
import { type Row, ratio } from '../row.ts';
import type { Product } from '../stage.ts';

export const handshakeRow: Row = {
  name: 'handshakes',
  what: 'WebSocket upgrade, connect, hello, close',
  anchor: 'bare ws that sends the same hello',
  unit: 'x',
  target: { atLeast: 0.65 },
  async open(stage) {
    const product = await stage.product();
    const load = stage.load<HandshakeTasks>('handshakes');
    const count = stage.quick ? 500 : 3_000;
    const { port, token } = product;
    // A hello lists recently connected clients, so it has its full size only after some connections.
    await load.ask('run', { port, token, count: LIMITS.presenceEntries });
    const anchor = await stage.anchor('hello', { HELLO: JSON.stringify(await helloOf(product)) });
    const rate = ({ pid, port }: { pid: number; port: number }) =>
      perCpuSecond(pid, () => load.ask('run', { port, token, count }));
    // Late compilation does not count.
    for (let time = 0; time < (stage.quick ? 1 : 6); time += 1)
      for (const server of [product, anchor]) await rate(server);
    return async () => ratio({ product: await rate(product), anchor: await rate(anchor) });
  },
};

async function helloOf({ port, token }: Product): Promise<unknown> {
  const client = createGatewayClient({
    url: `ws://127.0.0.1:${port}`,
    token,
    client: { name: 'bench', version: '1', mode: 'test' },
  });
  const hello = await client.connect();
  client.close();
  return hello;
}
