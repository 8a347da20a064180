import { createGatewayClient } from '../../protocol/client/ws-client.ts';
import type { HandshakeTasks } from '../load/handshakes.ts';
import { perCpuSecond } from '../process-costs.ts';
import { type Row, ratio } from '../row.ts';
import type { Product } from '../stage.ts';

export const handshakeRow: Row = {
  name: 'handshakes',
  what: 'WebSocket upgrade, connect, hello, good-bye',
  anchor: 'bare ws that sends the same hello',
  unit: 'x',
  target: { atLeast: 0.8 },
  async open(stage) {
    const product = await stage.product();
    const anchor = await stage.anchor('hello', { HELLO: JSON.stringify(await helloOf(product)) });
    const load = stage.load<HandshakeTasks>('handshakes');
    const count = stage.quick ? 500 : 3_000;
    const token = product.token;
    const rate = ({ pid, port }: { pid: number; port: number }) =>
      perCpuSecond(pid, () => load.ask('run', { port, token, count }));
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
