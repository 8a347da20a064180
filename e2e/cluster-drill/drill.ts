import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { systemClock } from '../../src/clock.ts';
import { POSTGRES_PASSWORD, startPostgres } from '../../src/testing/postgres-server.ts';
import { check } from '../checker/check.ts';
import type { ClusterEvidence } from '../checker/cluster/cluster-evidence.ts';
import { checkCluster } from '../checker/cluster/cluster-rules.ts';
import type { Evidence, Outage, Violation } from '../checker/evidence.ts';
import { createRandom, type Random } from '../checker/random.ts';
import { createRecorder, type Recorder } from '../checker/recording/recorder.ts';
import { type DiskReader, diskReader } from '../checker/stored.ts';
import { openChapter } from '../drill/chapter.ts';
import { createMoods } from '../drill/moods.ts';
import { type ScriptedModel, startScriptedModel } from '../support/model/scripted-model.ts';
import { type Cluster, startCluster } from './cluster.ts';
import { FAULTS, type Fault } from './faults.ts';
import { namespacedNetwork } from './namespaces.ts';
import { proxiedNetwork } from './network.ts';
import { addFaults, type ClusterScore, NOTHING_DONE, scoreOf } from './score.ts';
import { installWitness, type Witness } from './witness.ts';

export interface ClusterDrillOptions {
  rounds: number;
  seed: number;
  /** Only faults whose name contains this. */
  only?: string | undefined;
  /** Each daemon in a network of its own, with faults by the kernel. */
  hasNamespaces?: boolean;
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
  facts: Pick<ClusterEvidence, 'writes' | 'recoveries'>;
  score: ClusterScore;
  faults: readonly Fault[];
}

/**
 * Actors, readers and an unpredictable model work with three daemons over one database while everything in between fails.
 * Stops at the first violation.
 */
export async function runClusterDrill(options: ClusterDrillOptions): Promise<ClusterDrillResult> {
  const folder = await mkdtemp(path.join(tmpdir(), 'headgate-cluster-'));
  await using stack = new AsyncDisposableStack();
  const server = await startPostgres();
  stack.defer(() => server.close());
  const stage = await openStage({ ...options, folder, server, stack });
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
  stack: AsyncDisposableStack;
}

async function openStage({ seed, only = '', folder, server, stack, hasNamespaces = false }: Place): Promise<Stage> {
  const random = createRandom(seed);
  const url = await server.createDatabase();
  const model = stack.use(await startScriptedModel({ key: MODEL_KEY }));
  const network = stack.use(hasNamespaces ? namespacedNetwork() : proxiedNetwork());
  const spawnedMs = systemClock.now();
  const cluster = stack.use(
    await startCluster({
      ...{ network, folder, server, url, model: model.url, config: CONFIG },
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
    ],
    boot: { spawnedMs, readyMs: systemClock.now() },
    stored,
    at: () => cluster.at(),
  });
  const nameOf = (found: { name: string } | undefined) => found?.name ?? 'nobody';
  const witness = await installWitness(url, {
    ofPort(port, owner) {
      const users = cluster.machines.filter(({ links }) => links.database.isOwn(port));
      return nameOf(users.find(({ name }) => name === owner) ?? users[0]);
    },
    ofNode: (nodeId) => nameOf(cluster.machines.find((machine) => machine.nodeId === nodeId)),
  });
  return {
    ...{ cluster, model, recorder, random, stored, witness, outages: [], score: structuredClone(NOTHING_DONE) },
    facts: { writes: [], recoveries: [] },
    faults: FAULTS.filter(({ name }) => name.includes(only)),
  };
}

async function play(stage: Stage, { rounds, say, folder }: Pick<Place, 'rounds' | 'say' | 'folder'>) {
  for (let chapter = 0; stage.score.rounds < rounds; chapter += 1) {
    const count = Math.min(ROUNDS_PER_CHAPTER, rounds - stage.score.rounds);
    const { evidence, violations } = await playChapter(stage, {
      name: `chapter-${chapter}`,
      rounds: count,
      folder,
      say,
    });
    stage.score = scoreOf(stage.score, { evidence, facts: stage.facts });
    if (violations.length > 0) {
      await writeFile(
        path.join(folder, 'evidence.json'),
        JSON.stringify({ evidence, ...stage.facts, ends: stage.cluster.ends }, undefined, 1),
      );
      return violations;
    }
    stage.recorder.forget();
    Object.assign(stage.facts, { writes: [], recoveries: [] });
    stage.model.requests.length = 0; // they hold whole conversations
    say(
      `${stage.score.rounds} rounds, ${stage.score.eventsSeen} events seen, ${stage.score.holders} holders of the lease`,
    );
  }
  return [];
}

interface ChapterOptions {
  name: string;
  rounds: number;
  folder: string;
  say(line: string): void;
}

/** Some rounds with separate workstreams; stops at a violation. */
async function playChapter(stage: Stage, { name, rounds, folder, say }: ChapterOptions) {
  const { cluster, model, recorder, score } = stage;
  const effectsFile = `${name}.txt`;
  const cast = await openChapter({ ...stage, daemon: cluster, name, onCut: () => undefined, isCluster: true });
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
      requests: model.requests.map(({ body }) => body.messages),
    };
    const states: ClusterEvidence['states'] = settled ? await cluster.states() : [{ machine: 'one', state: 'active' }];
    return { evidence, violations: judge(stage, evidence, states) };
  };
  let earlier: Evidence['disk'] | undefined;
  for (let round = 0; round < rounds; round += 1) {
    const struck = await playRound(stage, cast, stage.random.fork(`round ${score.rounds}`));
    score.rounds += 1;
    addFaults(score, struck);
    const seen = await look(false, earlier);
    if (seen.violations.length > 0) {
      say(`round ${score.rounds}: ${struck.map((fault) => fault.name).join(' and ')}`);
      return seen;
    }
    earlier = seen.evidence.disk;
  }
  stage.facts.recoveries.push(...(await cluster.recover(score.rounds, 'the end of a chapter')));
  await cast.settle(stage.random.fork(`end of ${name}`));
  const seen = await look(true, earlier);
  cast.leave();
  return seen;
}

function judge({ cluster, facts }: Stage, evidence: Evidence, states: ClusterEvidence['states']): Violation[] {
  return [
    ...check(evidence).filter(({ rule }) => !NOT_PROMISED.has(rule)),
    ...checkCluster({ story: evidence, ...facts, ends: cluster.ends, states }),
  ];
}

const wait = (ms: number) => systemClock.sleep(ms, new AbortController().signal);

/** How long a daemon may take to store again what could not be stored. */
const RECONNECTING_MS = 10_000;

/** Clients work, something fails and is repaired, and clients go on for a while. */
async function playRound(stage: Stage, cast: Awaited<ReturnType<typeof openChapter>>, random: Random) {
  const { cluster, facts, outages, score } = stage;
  const over = new AbortController();
  const acting = cast.act(random, over.signal);
  await wait(random.int(200, 800));
  const struck = random.chance(0.3)
    ? [random.pick(stage.faults), random.pick(stage.faults)]
    : [random.pick(stage.faults)];
  const fromMs = systemClock.now();
  await Promise.all(struck.map((fault, index) => fault.strike(cluster, random.fork(`fault ${index}`))));
  const names = struck.map(({ name }) => name).join(' and ');
  facts.recoveries.push(...(await cluster.recover(score.rounds + 1, names)));
  if (struck.some(({ isOutage }) => isOutage)) outages.push({ fromMs, toMs: systemClock.now() + RECONNECTING_MS });
  await wait(random.int(200, 800));
  over.abort();
  cluster.abandonAll();
  cast.leave();
  await acting;
  return struck;
}
