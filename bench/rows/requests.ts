import type { RequestTasks } from '../load/requests.ts';
import type { SocketTarget } from '../load/sockets.ts';
import { perCpuSecond } from '../process-costs.ts';
import { type Row, ratio, type Target } from '../row.ts';
import type { Server } from '../stage.ts';

/** By default, a connection may send 300 requests at once and 50 per second. Here it sends as many as are answered. */
const UNLIMITED = { server: { inbound: { burst: 1_000_000, perSecond: 1_000_000 } } };
const CONNECTIONS = 64;

/**
 * The method is `approval.list` without pending approvals: an authenticated call through all of dispatch. Its params and
 * answer are as small as an echo, so that the code path is compared and not the size of an answer.
 */
const requestRow = (depth: number, target: Target): Row => ({
  name: `requests-${depth}`,
  what: `WebSocket requests, ${depth} in flight per connection`,
  anchor: 'bare ws, JSON echo',
  unit: 'x',
  target,
  async open(stage) {
    const [product, anchor] = [await stage.product({ config: UNLIMITED }), await stage.anchor('echo')];
    const load = stage.load<RequestTasks>('requests');
    const rate = async ({ pid, port, token }: Server & SocketTarget) => {
      await load.ask('open', { port, count: CONNECTIONS, ...(token !== undefined && { token }) });
      const perSecond = await perCpuSecond(pid, () => load.ask('run', { depth, each: stage.quick ? 250 : 2_000 }));
      await load.ask('close', undefined);
      return perSecond;
    };
    return async () => ratio({ product: await rate(product), anchor: await rate(anchor) });
  },
});

export const requestRows = [requestRow(1, { atLeast: 0.85 }), requestRow(32, { atLeast: 1.4 })];
