import path from 'node:path';
import { INSPECTED, openInspector } from '../inspector.ts';
import type { ModelTasks } from '../load/model.ts';
import { perCpuSecond } from '../process-costs.ts';
import { type Row, ratio } from '../row.ts';
import type { Stage } from '../stage.ts';
import { createWorkstreams } from '../workstreams.ts';

const ANCHOR = 'minimal relay that stores in groups';

interface Speech {
  chunks: number;
  everyMs?: number;
}

interface Relayed {
  /** Chunks of answers per second of processor time. */
  perCpuSecond: number;
  p50Ms: number;
  p99Ms: number;
}

interface RelayOptions {
  streams: number;
  /** Of the product. */
  env?: Record<string, string>;
  /** Makes a PostgreSQL database; default: both store in files. */
  newDatabase?: () => Promise<string>;
}

/** Opens both relays between a model and one event stream per workstream, with a function to measure each. */
export async function openRelays(stage: Stage, { streams, env, newDatabase }: RelayOptions) {
  const folder = await stage.folder();
  const placeOf = (database: string | undefined): Record<string, string> =>
    database === undefined ? { DATABASE: path.join(folder, 'relay.db') } : { DATABASE_URL: database };
  const relay = async (name: 'product' | 'anchor') => {
    const model = stage.load<ModelTasks>('model');
    const url = await model.ask('serveModel', undefined);
    const database = await newDatabase?.();
    const server =
      name === 'product'
        ? await stage.product({
            config: { server: { maxWorkstreams: streams + 50 } }, // a row may begin with new ones in each round
            env: { OPENAI_BASE_URL: url, ...(database !== undefined && { HEADGATE_STORE_URL: database }), ...env },
          })
        : { ...(await stage.anchor('relay', { MODEL_URL: url, ...placeOf(database) })), token: '' };
    const wsIds =
      'http' in server
        ? await createWorkstreams(server, streams)
        : Array.from({ length: streams }, (_, n) => `ws-${n}`);
    const { port, token, pid, stderr } = server;
    await model.ask('read', { port, token, wsIds });
    return {
      model,
      target: { port, token },
      stderr,
      /** Leaves the workstream and its history behind, where the server has such. */
      async startAfresh(): Promise<void> {
        if ('http' in server) await model.ask('read', { port, token, wsIds: await createWorkstreams(server, streams) });
      },
      async speak(speech: Speech): Promise<Relayed> {
        await model.ask('begin', { port, token });
        let p50Ms = 0;
        let p99Ms = 0;
        const rate = await perCpuSecond(pid, async () => {
          const spoken = await model.ask('speak', speech);
          ({ p50Ms, p99Ms } = spoken);
          return spoken.chunks;
        });
        await model.ask('finish', undefined);
        return { perCpuSecond: rate, p50Ms, p99Ms };
      },
    };
  };
  return { product: await relay('product'), anchor: await relay('anchor') };
}

const fastRow: Row = {
  name: 'relay-fast',
  what: 'relay of 8 answers at full speed, chunks',
  anchor: ANCHOR,
  unit: 'x',
  target: { atLeast: 1.2 },
  async open(stage) {
    const { product, anchor } = await openRelays(stage, { streams: 8 });
    const speech = { chunks: stage.quick ? 1_000 : 8_000 };
    return async () =>
      ratio({
        product: (await product.speak(speech)).perCpuSecond,
        anchor: (await anchor.speak(speech)).perCpuSecond,
      });
  },
};

const pacedRow: Row = {
  name: 'relay-paced',
  what: 'relay of 200 answers at 100 tokens/s, processor time per token',
  anchor: ANCHOR,
  unit: 'x',
  target: { atMost: 2 },
  beside: [
    { figure: 'productP50Ms', label: 'a token takes', unit: 'ms', target: { atMost: 20 } },
    { figure: 'anchorP50Ms', label: 'of the minimal relay', unit: 'ms' },
    { figure: 'productP99Ms', label: '99th percentile', unit: 'ms', target: { atMost: 50 } },
    { figure: 'anchorP99Ms', label: 'of the minimal relay', unit: 'ms' },
    {
      figure: 'loopP99Ms',
      label: '99th percentile of the delay of the event loop',
      unit: 'ms',
      target: { atMost: 35 },
    },
  ],
  async open(stage) {
    const { product, anchor } = await openRelays(stage, { streams: stage.quick ? 50 : 200, env: INSPECTED });
    const inspector = await openInspector(product.stderr());
    const speech = { chunks: stage.quick ? 50 : 200, everyMs: 10 };
    return async () => {
      await inspector.watchLoop();
      const ours = await product.speak(speech);
      const loopP99Ms = await inspector.loopP99Ms();
      const theirs = await anchor.speak(speech);
      return {
        value: theirs.perCpuSecond / ours.perCpuSecond,
        figures: {
          product: ours.perCpuSecond,
          anchor: theirs.perCpuSecond,
          productP50Ms: ours.p50Ms,
          anchorP50Ms: theirs.p50Ms,
          productP99Ms: ours.p99Ms,
          anchorP99Ms: theirs.p99Ms,
          loopP99Ms,
        },
      };
    };
  },
};

const latencyRow: Row = {
  name: 'relay-latency',
  what: 'relay of 20 answers at 100 tokens/s, added latency of the median token',
  anchor: ANCHOR,
  unit: 'ms',
  target: { atMost: 0.3 },
  async open(stage) {
    const { product, anchor } = await openRelays(stage, { streams: 20 });
    const speech = { chunks: stage.quick ? 50 : 200, everyMs: 10 };
    return async () => {
      const [ours, theirs] = [await product.speak(speech), await anchor.speak(speech)];
      return {
        value: ours.p50Ms - theirs.p50Ms,
        figures: { product: ours.p50Ms, anchor: theirs.p50Ms, productP99Ms: ours.p99Ms, anchorP99Ms: theirs.p99Ms },
      };
    };
  },
};

export const relayRows = [fastRow, pacedRow, latencyRow];
