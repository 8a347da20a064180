import process from 'node:process';
import { pause } from '../../e2e/support/deadline.ts';
import { workstreamEndpoints } from '../../protocol/http/workstream.ts';
import { DRAIN_SIGNAL } from '../../src/home/drain-signal.ts';
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
    const standby = await stage.product({ config, isStandby: true, beside: active });
    await untilForwarding(standby);
    const [wsId = ''] = await createWorkstreams(active, 1);
    const request = postText(workstreamEndpoints.approve.path, { ws_id: wsId, approved: true }, active.token);
    const load = stage.load<PostTasks>('posts');
    const each = stage.quick ? 200 : 2_000;
    const medianMs = async ({ port }: Server) => median(await load.ask('time', { port, request, each }));
    return async () => ratio({ product: await medianMs(standby), anchor: await medianMs(active) });
  },
};

/** How long nobody serves while one daemon hands over to the other, and then back. */
export const drainRow: Row = {
  name: 'drain',
  what: 'time in which nobody serves when a daemon is drained, the longest of the round',
  anchor: 'the clock',
  unit: 'ms',
  target: { atMost: 1_000 },
  beside: [{ figure: 'median', label: 'median', unit: 'ms' }],
  async open(stage) {
    const newDatabase = await stage.postgres();
    const config = { store: { url: await newDatabase() } };
    const first = await stage.product({ config, isStandby: true });
    await untilServing(first, first);
    const pair = [first, await stage.product({ config, isStandby: true, beside: first })] as const;
    let [active, other] = pair;
    return async () => {
      const gapsMs: number[] = [];
      while (gapsMs.length < (stage.quick ? 2 : 20)) {
        await untilForwarding(other);
        process.kill(active.pid, DRAIN_SIGNAL);
        gapsMs.push(await untilServing(active, other));
        [active, other] = [other, active];
      }
      return { value: Math.max(...gapsMs), figures: { median: median(gapsMs) } };
    };
  },
};

/** From the last answer of the one to the first of the other. */
async function untilServing(before: Product, after: Product): Promise<number> {
  let lastMs = performance.now();
  const deadlineMs = lastMs + LONGEST_MS;
  for (let nowMs = lastMs; nowMs < deadlineMs; nowMs = performance.now()) {
    if ((await statusOf(after, '/health')) === 200) return performance.now() - lastMs;
    if ((await statusOf(before, '/health')) === 200) lastMs = performance.now();
    await pause(2);
  }
  throw new Error(`nobody serves: ${after.stderr()}`);
}

/** A standby answers 503 until it and the active daemon have greeted each other. */
async function untilForwarding(standby: Product): Promise<void> {
  const deadlineMs = performance.now() + LONGEST_MS;
  while ((await statusOf(standby, '/v1/api/workstreams')) !== 200) {
    if (performance.now() > deadlineMs) throw new Error(`the standby does not forward: ${standby.stderr()}`);
    await pause(100);
  }
}

const LONGEST_MS = 60_000;

/** 0: the connection ended, as those of a daemon that hands over may. */
async function statusOf({ port, token }: Product, path: string): Promise<number> {
  const headers = { authorization: `Bearer ${token}` };
  return fetch(`http://127.0.0.1:${port}${path}`, { headers }).then(
    ({ status }) => status,
    () => 0,
  );
}
