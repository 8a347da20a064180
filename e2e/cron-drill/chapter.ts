import path from 'node:path';
import type { CronJob } from '../../protocol/cron.ts';
import type { ParamsInput } from '../../protocol/index.ts';
import { systemClock } from '../../src/clock.ts';
import type { TestClient } from '../../src/gateway/testing/test-client.ts';
import type { Boot } from '../checker/evidence.ts';
import type { Random } from '../checker/random.ts';
import { killWhileStarting } from '../drill/stillbirth.ts';
import { openSocket } from '../support/clients/open-socket.ts';
import { type DaemonUnderTest, startDaemon } from '../support/daemon/daemon.ts';
import { pause } from '../support/deadline.ts';
import { type ScriptedModel, startScriptedModel } from '../support/model/scripted-model.ts';
import { createBehaviour } from './behaviour.ts';
import { castOf, onceAt } from './cast.ts';
import { type CronEvidence, type PlannedJob, readCronLedger, readEvidence } from './evidence.ts';
import { createKeyedCalls } from './keyed-calls.ts';
import { type CronScore, leftoversIn } from './score.ts';

interface ChapterOptions {
  name: string;
  home: string;
  kills: number;
  random: Random;
  /** So far. */
  score: CronScore;
}

interface Scene extends ChapterOptions {
  daemon: DaemonUnderTest;
  model: ScriptedModel;
  env: Record<string, string>;
  jobs: PlannedJob[];
  boots: Boot[];
  calls: ReturnType<typeof createKeyedCalls>;
}

/** A separate home, from the first start to rest. */
export async function playChapter(options: ChapterOptions): Promise<{ evidence: CronEvidence; score: CronScore }> {
  const { home, random, name, kills } = options;
  await using model = await startScriptedModel({ contextWindow: 1_000_000 });
  const effectsFile = 'effects.txt';
  const behaviour = createBehaviour(random.fork('model'), { effectsFile });
  model.onRequest(behaviour.answer);
  const spawnedMs = systemClock.now();
  await using daemon = await startDaemon({ home, model: model.url, config: {} });
  const scene: Scene = {
    ...options,
    ...{
      daemon,
      model,
      jobs: [],
      calls: createKeyedCalls(),
      env: { HOME: path.dirname(home), OPENAI_BASE_URL: model.url },
    },
    boots: [{ spawnedMs, readyMs: systemClock.now() }],
  };
  let client = await openSocket(daemon);
  await Promise.all(castOf(name).map((wish) => add(scene, client, wish)));
  let { score } = options;
  for (let round = 0; round < kills; round += 1) {
    score = await playRound({ ...scene, random: random.fork(`round ${round}`), score }, client, `${name}.${round}`);
    client = await openSocket(daemon);
    await scene.calls.repeat(client);
  }
  behaviour.calmDown();
  const restMs = await comeToRest(scene, client);
  const { jobs, boots } = scene;
  const effects = path.join(home, 'workspace', effectsFile);
  return { score, evidence: await readEvidence(home, { jobs, boots, restMs, effectsFile: effects }) };
}

/** A job becomes due, and the daemon is killed and restarted. */
async function playRound(scene: Scene, client: TestClient, name: string): Promise<CronScore> {
  const { daemon, random, boots } = scene;
  const dueMs = Math.ceil((systemClock.now() + 100) / 1_000) * 1_000;
  const asked = [
    ...onceAt(name, dueMs).map((wish) => add(scene, client, wish)),
    ...(random.chance(0.4) ? [force(scene, client)] : []),
  ];
  await chooseMoment(scene, dueMs);
  await daemon.kill9();
  await Promise.all(asked);
  const diedMs = systemClock.now();
  Object.assign(boots.at(-1) ?? {}, { diedMs });
  const left = { ...scene.score.left };
  for (const what of leftoversIn(readCronLedger(daemon.home), diedMs)) left[what] += 1;
  const killsAtStart = await startAgain(scene);
  const { score } = scene;
  return {
    ...score,
    left,
    kills: score.kills + 1 + killsAtStart,
    killsAtStart: score.killsAtStart + killsAtStart,
  };
}

/** Just before the due time, just after it, during turns, or at any time. */
async function chooseMoment({ random, model }: Scene, dueMs: number): Promise<void> {
  const mood = random.fraction();
  const untilMs = (atMs: number) => pause(Math.max(0, atMs - systemClock.now()));
  if (mood < 0.2) return untilMs(dueMs - random.int(1, 15));
  if (mood < 0.6) return untilMs(dueMs + random.int(0, 40));
  if (mood < 0.9) {
    await Promise.race([model.request(model.requests.length), pause(2_000)]); // all slots may be in use
    return pause(random.int(0, 300));
  }
  return pause(random.int(0, 1_500));
}

async function startAgain({ daemon, env, boots, random }: Scene): Promise<number> {
  let kills = 0;
  while (random.chance(0.25)) {
    boots.push((await killWhileStarting(daemon, { env, afterMs: random.int(0, 600) })).boot);
    kills += 1;
  }
  const spawnedMs = systemClock.now();
  await daemon.restart();
  boots.push({ spawnedMs, readyMs: systemClock.now() });
  return kills;
}

function add({ calls, jobs }: Scene, client: TestClient, params: ParamsInput<'cron.add'>): Promise<void> {
  const onAnswer = (answered: CronJob) => {
    const { id, schedule, createdAtMs: createdMs, payload } = answered;
    jobs.push({ id, schedule, createdMs, forced: 0, ...(payload.kind === 'systemEvent' && { line: payload.text }) });
  };
  return calls.make(client, 'cron.add', { params, onAnswer });
}

/** Only the answer says whether it started or was already running. */
function force({ calls, jobs, random }: Scene, client: TestClient): Promise<void> {
  const job = random.pick(jobs.filter(({ schedule }) => schedule.kind !== 'at'));
  return calls.make(client, 'cron.run', {
    params: { id: job.id, mode: 'force', wait: false },
    onAnswer: ({ ran }) => {
      if (ran) job.forced += 1;
    },
  });
}

const PATIENCE_MS = 120_000;

/** Waits until all one-time jobs were due, no run starts any more, and all runs have ended. Returns since when. */
async function comeToRest({ calls }: Scene, client: TestClient): Promise<number> {
  await calls.repeat(client);
  const list = async () => (await client.call('cron.list', {})) as { jobs: CronJob[] };
  await until(async () => (await list()).jobs.every(({ schedule }) => schedule.kind !== 'at'));
  await client.call('config.set', { raw: JSON.stringify({ cron: { enabled: false } }) });
  const restMs = systemClock.now();
  await until(async () => {
    const { workstreams } = (await client.call('workstream.list')) as { workstreams: { state: string }[] };
    const isRunning = (await list()).jobs.some(({ state }) => state.runningAtMs !== undefined);
    return !isRunning && workstreams.every(({ state }) => state === 'idle');
  });
  return restMs;
}

/** The rules report what never happens. */
async function until(isSo: () => Promise<boolean>): Promise<void> {
  for (let waitedMs = 0; waitedMs < PATIENCE_MS && !(await isSo()); waitedMs += 100) await pause(100);
}
