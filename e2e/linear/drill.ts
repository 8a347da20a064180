import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { systemClock } from '../../src/clock.ts';
import { type PostgresServer, startPostgres } from '../../src/testing/postgres-server.ts';
import type { Interval } from '../checker/linear/find-order.ts';
import type { Recorded } from '../checker/linear/history.ts';
import { type Unexplained, unexplained } from '../checker/linear/linearizable.ts';
import { createRandom, type Random } from '../checker/random.ts';
import { closeCrew, crewScene, startPair } from '../cluster/crew.ts';
import { type DaemonUnderTest, startDaemon } from '../support/daemon/daemon.ts';
import { type ChatRequest, startScriptedModel } from '../support/model/scripted-model.ts';
import { callTools, say } from '../support/model/scripted-steps.ts';
import { type Cast, openCast } from './cast.ts';
import { nodeIdOf, replace } from './lost-worker.ts';

export interface LinearOptions {
  rounds: number;
  seed: number;
  /** `workers`: over PostgreSQL, with workstreams of a worker, which is killed in place of the daemon that clients reach. */
  store: 'sqlite' | 'postgres' | 'workers';
  say(line: string): void;
}

export interface LinearResult {
  findings: Unexplained[];
  /** How often each kind of call was made, and how many answers were lost. */
  tally: Record<string, number>;
}

/** How many workstreams have clients at the same time. */
const WORKSTREAMS = 2;

interface Stage {
  /** Clients reach this one. */
  daemon: DaemonUnderTest;
  server: PostgresServer | undefined;
  worker: DaemonUnderTest | undefined;
}

/** Clients call, the daemon (or its database) is killed in the middle, they go on, and an order of all calls is looked for. */
export async function runLinear({ rounds, seed, store, say: tell }: LinearOptions): Promise<LinearResult> {
  const random = createRandom(seed);
  await using stack = new AsyncDisposableStack();
  const stage = await openStage(store, stack);
  const { daemon, model } = stage;
  const tally: LinearResult['tally'] = {};
  for (let round = 0; round < rounds; round += 1) {
    const calls = await playRound(stage, { random: random.fork(`round ${round}`), round, tally }).catch(
      (error: unknown) => {
        throw new Error(`round ${round}; the daemon printed: ${daemon.output().stderr.slice(-4_000)}`, {
          cause: error,
        });
      },
    );
    model.requests.length = 0;
    count(tally, calls);
    const all = unexplained(calls);
    const findings = all.filter(({ isUndecided }) => isUndecided !== true);
    if (findings.length < all.length) tally.undecided = (tally.undecided ?? 0) + all.length - findings.length;
    if (findings.length > 0) {
      const wrong = calls.filter(({ wsId }) => findings.some((finding) => finding.wsId === wsId));
      const file = path.join(tmpdir(), `headgate-linear-${seed}.json`);
      await writeFile(file, JSON.stringify(wrong));
      tell(`round ${round}; all calls are in ${file}`);
      return { findings, tally };
    }
    if ((round + 1) % 10 === 0) tell(`${round + 1} rounds, ${calls.length} calls in the last one`);
  }
  return { findings: [], tally };
}

async function openStage(store: LinearOptions['store'], stack: AsyncDisposableStack) {
  if (store === 'workers') {
    stack.defer(closeCrew);
    const { lead, worker } = stack.use(await startPair({ config: CONFIG }));
    const { model } = await crewScene();
    model.onRequest(answer);
    return { daemon: lead, server: undefined, worker, model };
  }
  const server = store === 'postgres' ? await startPostgres() : undefined;
  stack.defer(() => server?.close());
  const model = stack.use(await startScriptedModel());
  model.onRequest(answer);
  const url = await server?.createDatabase();
  const daemon = await startDaemon({ model: model.url, config: { ...CONFIG, ...(url && { store: { url } }) } });
  return { daemon: stack.use(daemon), server, worker: undefined, model };
}

const CONFIG = {
  tools: { sandbox: 'off' },
  server: { inbound: { burst: 1_000_000, perSecond: 1_000_000 } },
  ratelimit: { enabled: false },
};

/** Two of three runs ask once, and the others end at once. The daemon may add a message after the result of a call. */
function answer({ messages }: ChatRequest) {
  const asked = messages.findLastIndex(({ role, content }) => role === 'user' && WORD.test(String(content)));
  const number = Number(WORD.exec(String(messages[asked]?.content))?.[1] ?? 0);
  if (number % 3 === 0 || messages.slice(asked).some(({ role }) => role === 'tool')) return say('done');
  return callTools({ name: 'write_file', arguments: { path: `made/${number}`, content: 'made\n' } });
}

const WORD = /m-r\d+w\d+-(\d+)/;

interface Round {
  random: Random;
  round: number;
  tally: LinearResult['tally'];
}

async function playRound(stage: Stage, { random, round, tally }: Round): Promise<Recorded[]> {
  const names = Array.from({ length: WORKSTREAMS }, (_, index) => `r${round}w${index}`);
  const { daemon, server, worker } = stage;
  const nodeId = worker && (await nodeIdOf(worker));
  const casts = await Promise.all(names.map((name) => openCast(daemon, name, nodeId)));
  const isDatabase = server !== undefined && random.chance(0.4);
  const kind = `kills of the ${isDatabase ? 'database' : worker ? 'worker' : 'daemon'}`;
  tally[kind] = (tally[kind] ?? 0) + 1;
  const outage = isDatabase ? await liveThroughKill(stage, casts, random) : await liveTwice(stage, casts, random);
  await Promise.all(casts.map((cast) => cast.settle()));
  return casts.flatMap(({ shared }) => shared.calls.map((call) => (outage ? asStored(call, outage) : call)));
}

/** The end of a run is tried again each second, also when the store is back. */
const RETRY_MS = 2_000;

/** While nothing can be stored, a cancel is answered when the work has stopped; it takes effect later (decision 29). */
function asStored(call: Recorded, outage: Interval): Recorded {
  const { fromMs, toMs = Number.POSITIVE_INFINITY } = call;
  const isDuring = fromMs < (outage.toMs ?? Number.POSITIVE_INFINITY) + RETRY_MS && toMs > outage.fromMs;
  return call.kind === 'cancel' && isDuring ? { ...call, answer: undefined, toMs: undefined } : call;
}

const wait = (ms: number) => systemClock.sleep(ms, new AbortController().signal);

/** Waits for so many further calls, because a busy machine makes few of them in a second. */
async function waitForCalls(casts: readonly Cast[], more: number): Promise<void> {
  const made = () => casts.reduce((sum, { shared }) => sum + shared.calls.length, 0);
  const wanted = made() + more;
  const latestMs = performance.now() + MOST_WAIT_MS;
  while (made() < wanted && performance.now() < latestMs) await wait(1);
}

const MOST_WAIT_MS = 10_000;

/** The daemon, or the worker, is killed between two lives of the clients. */
async function liveTwice({ daemon, worker }: Stage, casts: readonly Cast[], random: Random): Promise<undefined> {
  const killed = new AbortController();
  const first = Promise.all(casts.map((cast, index) => cast.act(random.fork(index), killed.signal)));
  await waitForCalls(casts, random.int(5, 80));
  await (worker ?? daemon).kill9();
  killed.abort();
  await first;
  if (worker) await replace(worker, { lead: daemon, wsIds: casts.map(({ shared }) => shared.wsId), random });
  else await daemon.restart();
  const over = new AbortController();
  const second = Promise.all(casts.map((cast, index) => cast.act(random.fork(index + 100), over.signal)));
  await waitForCalls(casts, random.int(5, 40));
  over.abort();
  await second;
  return undefined;
}

/** The database server is killed while the clients act, and started again. Returns when nothing could be stored. */
async function liveThroughKill({ daemon, server }: Stage, casts: readonly Cast[], random: Random): Promise<Interval> {
  const over = new AbortController();
  const acting = Promise.all(casts.map((cast, index) => cast.act(random.fork(index), over.signal)));
  await waitForCalls(casts, random.int(5, 80));
  const fromMs = performance.now();
  await server?.kill();
  await wait(random.int(0, 100));
  await server?.start();
  while ((await daemon.get('/health')).body.store.status !== 'ok') await wait(20);
  const toMs = performance.now();
  await waitForCalls(casts, random.int(5, 40));
  over.abort();
  await acting;
  return { fromMs, toMs };
}

function count(tally: LinearResult['tally'], calls: readonly Recorded[]): void {
  for (const { kind, toMs } of calls) {
    tally[kind] = (tally[kind] ?? 0) + 1;
    if (toMs === undefined) tally[`${kind} without an answer`] = (tally[`${kind} without an answer`] ?? 0) + 1;
  }
}
