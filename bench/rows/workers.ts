import { pause } from '../../e2e/support/deadline.ts';
import type { ModelTasks } from '../load/model.ts';
import { type Row, ratio } from '../row.ts';
import type { Product, Stage } from '../stage.ts';
import { createWorkstreams } from '../workstreams.ts';

const STREAMS = 9;
/** An answer of a stream takes a tenth of a second, which is too short to be measured once. */
const ANSWERS = 10;

/** Elapsed time counts here: the work is done by several processes, on the processors of one machine. */
export const workersRow: Row = {
  name: 'workers',
  what: 'relay of 9 answers at a time, at full speed, over PostgreSQL by an active daemon with two workers, chunks per second',
  anchor: 'one daemon over PostgreSQL',
  unit: 'x',
  async open(stage) {
    const newDatabase = await stage.postgres();
    const bus = await stage.nats();
    const three = await openSpeakers(stage, { store: { url: await newDatabase(), bus } }, 2);
    const one = await openSpeakers(stage, { store: { url: await newDatabase() } }, 0);
    const chunks = stage.quick ? 500 : 8_000;
    return async () => ratio({ product: await three(chunks), anchor: await one(chunks) });
  },
};

/** A daemon with workers, and how many chunks of answers a second its clients get. */
async function openSpeakers(
  stage: Stage,
  config: { store: object },
  workers: number,
): Promise<(chunks: number) => Promise<number>> {
  const model = stage.load<ModelTasks>('model');
  const env = { OPENAI_BASE_URL: await model.ask('serveModel', undefined) };
  const active = await stage.product({ config, env });
  for (let n = 0; n < workers; n += 1) await stage.product({ config, env, isWorker: true, beside: active });
  await untilJoined(active, workers);
  const { port, token } = active;
  return async (chunks) => {
    // New ones each time: a long conversation would be summarized, which asks the model, too.
    await model.ask('read', { port, token, wsIds: await createWorkstreams(active, STREAMS) });
    let spoken = 0;
    let seconds = 0;
    for (let n = 0; n < ANSWERS; n += 1) {
      await model.ask('begin', { port, token });
      const beganMs = performance.now();
      ({ chunks: spoken } = await model.ask('speak', { chunks }));
      seconds += (performance.now() - beganMs) / 1_000;
      await model.ask('finish', undefined);
    }
    return (spoken * ANSWERS) / seconds;
  };
}

async function untilJoined({ port, token, stderr }: Product, workers: number): Promise<void> {
  const deadlineMs = performance.now() + LONGEST_MS;
  for (;;) {
    const headers = { authorization: `Bearer ${token}` };
    const answer = await fetch(`http://127.0.0.1:${port}/v1/api/cluster/nodes`, { headers });
    const { nodes }: { nodes: { health: unknown }[] } = JSON.parse(await answer.text());
    if (nodes.filter(({ health }) => health !== null).length > workers) return;
    if (performance.now() > deadlineMs) throw new Error(`the workers do not join: ${stderr()}`);
    await pause(100);
  }
}

const LONGEST_MS = 60_000;
