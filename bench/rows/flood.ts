import type { FloodTasks } from '../load/flood.ts';
import type { NeighbourTasks } from '../load/neighbour.ts';
import type { SocketTarget } from '../load/sockets.ts';
import { type Row, ratio } from '../row.ts';

/** With the default limits, a connection may send 300 requests at once. */
const EACH = 250;

export const floodRow: Row = {
  name: 'flood',
  what: '99th percentile of the wait for a WebSocket answer while another connection floods',
  anchor: 'the same without the flood',
  unit: 'x',
  target: { atMost: 1.5 },
  async open(stage) {
    const { port, token } = await stage.product();
    const target: SocketTarget = { port, token };
    const flood = stage.load<FloodTasks>('flood');
    const neighbour = stage.load<NeighbourTasks>('neighbour');
    const p99 = async () => {
      const waits = await neighbour.ask('ask', { ...target, count: stage.quick ? 4 : 20, each: EACH });
      return waits.toSorted((a, b) => a - b)[Math.floor(waits.length * 0.99)] ?? Number.NaN;
    };
    return async () => {
      const anchor = await p99();
      await flood.ask('begin', target);
      const product = await p99();
      await flood.ask('end', undefined);
      return ratio({ product, anchor });
    };
  },
};
