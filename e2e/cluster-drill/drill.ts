import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { systemClock } from '../../src/clock.ts';
import { NATS_PASSWORD, startNats } from '../../src/testing/nats-server.ts';
import { POSTGRES_PASSWORD, startPostgres } from '../../src/testing/postgres-server.ts';
import { check } from '../checker/check.ts';
import { ACTIVE, type ClusterEvidence } from '../checker/cluster/cluster-evidence.ts';
import { checkCluster } from '../checker/cluster/cluster-rules.ts';
import type { Evidence, Outage, Violation } from '../checker/evidence.ts';
import { createRandom, type Random } from '../checker/random.ts';
import { createRecorder, type Recorder } from '../checker/recording/recorder.ts';
import { type DiskReader, diskReader } from '../checker/stored.ts';
import { openChapter } from '../drill/chapter.ts';
import { createMoods } from '../drill/moods.ts';
import { type ScriptedModel, startScriptedModel } from '../support/model/scripted-model.ts';
import { setClocks } from './clocks.ts';
import { type Cluster, startCluster } from './cluster.ts';
import { FAULTS, pickFaults } from './faults.ts';
import { namespacedNetwork } from './namespaces.ts';
import { proxiedNetwork } from './network.ts';
import { addFaults, type ClusterScore, NOTHING_DONE, scoreOf } from './score.ts';
import type { Fault } from './strike.ts';
import { installWitness, type Witness } from './witness.ts';

export interface ClusterDrillOptions {
  rounds: number;
  seed: number;
  /** Only faults whose name contains this. */
  only?: string | undefined;
  /** Each daemon in a network of its own, with faults by the kernel. */
  hasNamespaces?: boolean;
  /** One or two, which is the default. */
  workerCount?: 1 | 2;
  say(line: string): void;
}

export interface ClusterDrillResult {
  score: ClusterScore;
  violations: Violation[];
  /** Kept after a violation, with the evidence. */
  folder: string;
}

const ROUNDS_PER_CHAPTER = 10;
const MODEL_KEY = 'key-of-the-model-5d1e';
const BUDGET_BYTES = 400 * 1024 * 1024;

const CONFIG = {
  tools: { sandbox: 'off' },
  approvalTimeoutSecs: 3_600,
};

/**
 * A paused or lost daemon cannot end its commands, and nobody else can on its behalf: another machine has no access to its
 * processes (docs/operating.md).
 */
const NOT_PROMISED: ReadonlySet<string> = new Set(['no process outlives its run']);

interface Stage {
  cluster: Cluster;
  model: ScriptedModel;
  recorder: Recorder;
  random: Random;
  stored: DiskReader;
  witness: Witness;
  outages: Outage[];
  /** The times of all faults. */
  breaks: Outage[];
  facts: Pick<ClusterEvidence, 'writes' | 'recoveries' | 'placements' | 'states'>;
  score: ClusterScore;
  faults: readonly Fault[];
}

/**
 * Actors, readers and an unpredictable model work with several daemons over one database, of which two can become active and
 * the others are workers, while everything in between fails. Stops at the first violation.
 */
export async function runClusterDrill(options: ClusterDrillOptions): Promise<ClusterDrillResult> {
  const folder = await mkdtemp(path.join(tmpdir(), 'headgate-cluster-'));
  await using stack = new AsyncDisposableStack();
  const [server, bus] = await Promise.all([startPostgres(), startNats()]);
  stack.defer(() => server.close());
  stack.defer(() => bus.close());
  const stage = await openStage({ ...options, folder, server, bus, stack });
  const violations = await play(stage, { ...options, folder }).catch((error: unknown) => {
    throw new Error(`the drill stopped after ${stage.score.rounds} rounds; the homes are in ${folder}`, {
      cause: error,
    });
  });
  const isKept = violations.length > 0;
  const score = { ...stage.score, violations: violations.length };
  if (!isKept) stack.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  return { violations, folder, score };
}

interface Place extends ClusterDrillOptions {
  folder: string;
  server: Cluster['server'];
  bus: Cluster['bus'];
  stack: AsyncDisposableStack;
}

async function openStage({ seed, only = '', folder, server, bus, stack, ...options }: Place): Promise<Stage> {
  const { hasNamespaces = false, workerCount = 2 } = options;
  const random = createRandom(seed);
  const url = await server.createDatabase();
  const model = stack.use(await startScriptedModel({ key: MODEL_KEY }));
  const network = stack.use(hasNamespaces ? namespacedNetwork() : proxiedNetwork());
  const spawnedMs = systemClock.now();
  const cluster = stack.use(
    await startCluster({
      ...{ network, folder, server, bus, url, workerCount, model: model.url, config: CONFIG },
      env: { HOME: folder, OPENAI_API_KEY: MODEL_KEY },
      random: random.fork('clients'),
    }),
  );
  const [first] = cluster.machines;
  if (!first) throw new Error('a cluster has daemons');
  const stored = diskReader(first.daemon.home, url);
  const recorder = createRecorder(first.daemon, {
    budgetBytes: BUDGET_BYTES,
    secrets: [
      { name: 'the key of the model', value: MODEL_KEY },
      { name: 'the password of the database', value: POSTGRES_PASSWORD },
      { name: 'the password in the address of the database', value: encodeURIComponent(POSTGRES_PASSWORD) },
      { name: 'the password of the bus', value: NATS_PASSWORD },
    ],
    boot: { spawnedMs, readyMs: systemClock.now() },
    stored,
    at: () => cluster.at(),
  });
  const witness = await installWitness(url, {
    ofPort: cluster.userOf,
    ofNode: (nodeId) => cluster.machines.find((machine) => machine.nodeId === nodeId)?.name,
  });
  return {
    ...{
      cluster,
      model,
      recorder,
      random,
      stored,
      witness,
      outages: [],
      breaks: [],
      score: structuredClone(NOTHING_DONE),
    },
    facts: { writes: [], recoveries: [], placements: [], states: [] },
    faults: FAULTS.filter(({ name }) => name.includes(only)),
  };
}

async function play(stage: Stage, { rounds, say, folder }: Pick<Place, 'rounds' | 'say' | 'folder'>) {
  for (let chapter = 0; stage.score.rounds < rounds; chapter += 1) {
    const most = Math.min(ROUNDS_PER_CHAPTER, rounds - stage.score.rounds);
    const { evidence, violations } = await playChapter(stage, { name: `chapter-${chapter}`, most, folder, say });
    stage.score = scoreOf(stage.score, { evidence, facts: stage.facts });
    if (violations.length > 0) {
      await writeFile(
        path.join(folder, 'evidence.json'),
        JSON.stringify({ evidence, ...stage.facts, ends: stage.cluster.ends }, undefined, 1),
      );
      return violations;
    }
    stage.recorder.forget();
    Object.assign(stage.facts, { writes: [], recoveries: [], placements: [] });
    stage.model.requests.length = 0; // they hold whole conversations
    say(
      `${stage.score.rounds} rounds, ${stage.score.eventsSeen} events seen, ${stage.score.holders} holders of the lease`,
    );
  }
  return [];
}

interface ChapterOptions {
  name: string;
  /** How many rounds it has at most. */
  most: number;
  folder: string;
  say(line: string): void;
}

/** The coordinator is anywhere, each worker has one of the others, and the daemon chooses the machine of the last one. */
async function openPlaced(stage: Stage, name: string) {
  const { cluster, facts } = stage;
  const leader = stage.random.fork(`places of ${name}`).pick([undefined, ...cluster.workers]);
  const places = [leader, ...cluster.workers];
  const machineFor = (index: number) => places[index]?.nodeId;
  const cast = await openChapter({
    ...stage,
    daemon: cluster,
    name,
    onCut: () => undefined,
    isCluster: true,
    machineFor,
  });
  cluster.wsIds = cast.wsIds;
  for (const [index, wsId] of cast.wsIds.entries()) {
    const machine = cluster.workers.find(({ nodeId }) => nodeId === cast.nodeIds[index])?.name ?? ACTIVE;
    facts.placements.push({ wsId, machine });
  }
  return cast;
}

/** Some rounds with separate workstreams. Stops at a violation, and when all of them are with the active daemon. */
async function playChapter(stage: Stage, { name, most, folder, say }: ChapterOptions) {
  const { cluster, model, recorder, score } = stage;
  const effectsFile = `${name}.txt`;
  const { areWrong } = setClocks(
    cluster.machines.map(({ clock }) => clock),
    stage.random.fork(`clocks of ${name}`),
  );
  const cast = await openPlaced(stage, name);
  const tokens = { from: 1_000, to: 3_000 };
  model.onRequest(createMoods(stage.random.fork(`moods of ${name}`), { name, effectsFile, tokens }));
  const scope = { effectsFiles: [path.join(folder, 'workspace', effectsFile)] };
  const look = async (settled: boolean, earlier: Evidence['disk'] | undefined) => {
    stage.facts.writes.push(...(await stage.witness.take()));
    const wsIds = await cast.withChildren();
    const found = await recorder.evidence({ ...scope, wsIds, settled, earlier, withFiles: settled });
    const outputs = cluster.machines.map(({ name: text, daemon }) => ({ name: text, text: daemon.output().stderr }));
    const evidence: Evidence = {
      ...found,
      artefacts: [...found.artefacts, ...outputs],
      outages: stage.outages,
      breaks: stage.breaks,
      requests: model.requests.map(({ body }) => body.messages),
      areClocksWrong: areWrong,
    };
    stage.facts.states = settled ? await cluster.states() : ONE_ACTIVE;
    return { evidence, violations: judge(stage, evidence) };
  };
  let earlier: Evidence['disk'] | undefined;
  for (let round = 0; round < most && (round === 0 || (await isShared(cluster))); round += 1) {
    const struck = await playRound(stage, cast, stage.random.fork(`round ${score.rounds}`));
    score.rounds += 1;
    if (areWrong) score.withWrongClocks += 1;
    addFaults(score, struck);
    const seen = await look(false, earlier);
    if (seen.violations.length > 0) {
      say(`round ${score.rounds}: ${struck.map((fault) => fault.name).join(' and ')}`);
      return seen;
    }
    earlier = seen.evidence.disk;
  }
  const recover = async (faults: string) => {
    const recovered = await cluster.recover({ round: score.rounds, faults });
    stage.facts.recoveries.push(...recovered);
  };
  await recover('the end of a chapter');
  await cast.settle(stage.random.fork(`end of ${name}`));
  await recover('nothing'); // a daemon that has no time for six seconds is replaced without any fault
  const seen = await look(true, earlier);
  cast.leave();
  return seen;
}

/** In the middle of a chapter, nobody asks. */
const ONE_ACTIVE: ClusterEvidence['states'] = [{ machine: 'one', isWorker: false, state: ACTIVE }];

/** Whether a worker has a workstream. */
async function isShared(cluster: Cluster): Promise<boolean> {
  const counts = await Promise.all(cluster.workers.map((machine) => cluster.countAt(machine)));
  return counts.some((count) => count > 0);
}

function judge({ cluster, facts }: Stage, evidence: Evidence): Violation[] {
  return [
    ...check(evidence).filter(({ rule }) => !NOT_PROMISED.has(rule)),
    ...checkCluster({ story: evidence, ...facts, ends: cluster.ends }),
  ];
}

const wait = (ms: number) => systemClock.sleep(ms, new AbortController().signal);

/** How long a daemon may take to store again what could not be stored. */
const RECONNECTING_MS = 10_000;

/** Clients work, something fails and is repaired, and clients go on for a while. */
async function playRound(stage: Stage, cast: Awaited<ReturnType<typeof openChapter>>, random: Random) {
  const { breaks, cluster, facts, outages, score } = stage;
  const over = new AbortController();
  const acting = cast.act(random, over.signal);
  await wait(random.int(200, 800));
  const struck = pickFaults(stage.faults, random);
  const fromMs = systemClock.now();
  await Promise.all(struck.map((fault, index) => fault.strike(cluster, random.fork(`fault ${index}`))));
  const names = struck.map(({ name }) => name).join(' and ');
  facts.recoveries.push(...(await cluster.recover({ round: score.rounds + 1, faults: names })));
  breaks.push({ fromMs, toMs: systemClock.now() });
  if (struck.some(({ isOutage }) => isOutage)) outages.push({ fromMs, toMs: systemClock.now() + RECONNECTING_MS });
  await wait(random.int(200, 800));
  over.abort();
  cluster.abandonAll();
  cast.leave();
  await acting;
  return struck;
}
