import { pause } from '../../e2e/support/deadline.ts';
import { workstreamEndpoints } from '../../protocol/http/workstream.ts';
import { postText } from '../load/http-connection.ts';
import type { PostTasks } from '../load/posts.ts';
import { median, type Row, ratio } from '../row.ts';
import type { Product, Server } from '../stage.ts';
import { createWorkstreams } from '../workstreams.ts';

/** Elapsed time counts here: the work is done by two processes, and a caller waits for both. */
export const forwardedRow: Row = {
  name: 'forwarded',
  what: 'HTTP POST of a cheap authenticated call at a standby, which forwards it, median wait for the answer',
  anchor: 'the same call at the active daemon',
  unit: 'x',
  target: { atMost: 3 },
  beside: [{ figure: 'product', label: 'p50', unit: 'ms', target: { atMost: 1 } }],
  async open(stage) {
    const newDatabase = await stage.postgres();
    const config = { store: { url: await newDatabase() } };
    const active = await stage.product({ config });
    const standby = await stage.product({ config, standbyOf: active });
    await untilForwarding(standby);
    const [wsId = ''] = await createWorkstreams(active, 1);
    const request = postText(workstreamEndpoints.approve.path, { ws_id: wsId, approved: true }, active.token);
    const load = stage.load<PostTasks>('posts');
    const each = stage.quick ? 200 : 2_000;
    const medianMs = async ({ port }: Server) => median(await load.ask('time', { port, request, each }));
    return async () => ratio({ product: await medianMs(standby), anchor: await medianMs(active) });
  },
};

/** A standby answers 503 until it and the active daemon have greeted each other. */
async function untilForwarding(standby: Product): Promise<void> {
  for (let tries = 0; tries < 600; tries += 1) {
    const { status } = await fetch(`http://127.0.0.1:${standby.port}/v1/api/workstreams`, {
      headers: { authorization: `Bearer ${standby.token}` },
    });
    if (status === 200) return;
    await pause(100);
  }
  throw new Error(`the standby does not forward: ${standby.stderr()}`);
}
