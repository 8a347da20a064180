import type { AppendTasks } from '../load/appends.ts';
import { type Row, ratio } from '../row.ts';
import { openFanOut } from './fan-out.ts';
import { firstTurns } from './first-turns.ts';
import { openRelays } from './relay.ts';

/** Elapsed time counts here: most of it is the wait for the server, which does its part of the work in other processes. */
const appendRow = (writers: number): Row => ({
  name: `postgres-append-${writers}`,
  what: `durable append of events over PostgreSQL by ${writers === 1 ? 'a writer that waits for its' : `${writers} writers that wait for their`} commits, rows per second`,
  anchor: `bare pg, ${writers === 1 ? 'a connection' : `${writers} connections`}, a transaction per row`,
  unit: 'x',
  target: { atLeast: writers === 1 ? 0.45 : 1.1 },
  async open(stage) {
    const newDatabase = await stage.postgres();
    const [ours, theirs] = [stage.load<AppendTasks>('appends'), stage.load<AppendTasks>('appends')];
    const [product, anchor] = [await newDatabase(), await newDatabase()];
    const rows = (stage.quick ? 250 : 1_000) * (writers === 1 ? 1 : 8);
    const perSecond = ({ tookMs }: { tookMs: number }) => (rows * 1000) / tookMs;
    return async () => {
      const stored = await ours.ask('postgres', { url: product, rows, writers });
      const bare = await theirs.ask('barePostgres', { url: anchor, rows, writers });
      const cpu = { productCpuMs: stored.cpuMs, anchorCpuMs: bare.cpuMs };
      return ratio({ product: perSecond(stored), anchor: perSecond(bare) }, cpu);
    };
  },
});

const turnRow: Row = {
  name: 'postgres-turn',
  what: 'from sending a message to calling the model over PostgreSQL, median of the first 100 turns of a conversation',
  anchor: 'the minimal relay over pg, for comparison',
  unit: 'ms',
  target: { atMost: 8 },
  async open(stage) {
    return firstTurns(stage, await openRelays(stage, { streams: 1, newDatabase: await stage.postgres() }));
  },
};

const relayRow: Row = {
  name: 'postgres-relay',
  what: 'relay of 8 answers at full speed over PostgreSQL, chunks',
  anchor: 'minimal relay that stores in groups with pg',
  unit: 'x',
  target: { atLeast: 1.2 },
  async open(stage) {
    const { product, anchor } = await openRelays(stage, { streams: 8, newDatabase: await stage.postgres() });
    const speech = { chunks: stage.quick ? 1_000 : 8_000 };
    return async () => {
      const [ours, theirs] = [await product.speak(speech), await anchor.speak(speech)];
      return ratio(
        { product: ours.perCpuSecond, anchor: theirs.perCpuSecond },
        { productP50Ms: ours.p50Ms, anchorP50Ms: theirs.p50Ms },
      );
    };
  },
};

const fanOutRow: Row = {
  name: 'postgres-fan-out',
  what: 'WebSocket events to 500 over PostgreSQL, 4 in flight',
  anchor: 'bare ws, an insert with pg, send(string) to each',
  unit: 'x',
  target: { atLeast: 0.9 },
  async open(stage) {
    const newDatabase = await stage.postgres();
    const [product, anchor] = [await newDatabase(), await newDatabase()];
    return openFanOut(stage, { subscribers: 500, inFlight: 4, databases: { product, anchor } });
  },
};

export const postgresRows = [appendRow(16), appendRow(1), turnRow, relayRow, fanOutRow];
