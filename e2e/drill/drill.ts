import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { systemClock } from '../../src/clock.ts';
import { POSTGRES_PASSWORD, type PostgresServer, startPostgres } from '../../src/testing/postgres-server.ts';
import { check } from '../checker/check.ts';
import type { Evidence, Outage, Violation } from '../checker/evidence.ts';
import { createRandom, type Random } from '../checker/random.ts';
import { createRecorder, type Recorder } from '../checker/recording/recorder.ts';
import { type DiskReader, diskReader } from '../checker/stored.ts';
import { type DaemonUnderTest, startDaemon } from '../support/daemon/daemon.ts';
import { within } from '../support/deadline.ts';
import { type ScriptedModel, startScriptedModel } from '../support/model/scripted-model.ts';
import { answerTokens, budgetsOf } from './budgeting.ts';
import { openChapter } from './chapter.ts';
import { createMoods } from './moods.ts';
import { rehearse } from './rehearsal.ts';
import { NOTHING_SEEN, recoveryOf, type Score, storedIn, type Tally, tallyOf } from './score.ts';
import { killWhileStarting } from './stillbirth.ts';

export interface DrillOptions {
  rounds: number;
  seed: number;
  /** Default: a temporary folder, which is kept only after a violation. */
  home?: string;
  /** False: commands always run without a sandbox. Otherwise every second chapter uses it. */
  sandbox: boolean;
  /** Over PostgreSQL, the database server is killed, too. */
  store: 'sqlite' | 'postgres';
  say(line: string): void;
}

export interface DrillResult {
  score: Score;
  violations: Violation[];
  /** The folder of the home and, after a violation, of the evidence. */
  home: string;
}

const ROUNDS_PER_CHAPTER = 10;
const REHEARSAL_MS = 120_000;
const MODEL_KEY = 'key-of-the-model-5d1e';
const CANARY = 'canary-of-the-environment-c44d';
/** Questions expire after ten seconds of the daemon's life. */
const LONG_MS = 12_000;
const BUDGET_BYTES = 400 * 1024 * 1024;

interface Stage {
  daemon: DaemonUnderTest;
  model: ScriptedModel;
  recorder: Recorder;
  random: Random;
  /** The environment of the daemon. */
  env: Record<string, string>;
  stored: DiskReader;
  server: PostgresServer | undefined;
  outages: Outage[];
  score: Pick<Score, 'rounds' | 'kills' | 'killsAtStart' | 'databaseKills' | 'cuts'>;
}

/**
 * Runs eight workstreams, their readers and an unpredictable model against a daemon that is killed repeatedly,
 * and checks all evidence. Stops at the first violation.
 */
export async function runDrill(options: DrillOptions): Promise<DrillResult> {
  const folder = await mkdtemp(path.join(tmpdir(), 'headgate-drill-'));
  const home = options.home ?? path.join(folder, 'home');
  await using stack = new AsyncDisposableStack();
  const server = options.store === 'postgres' ? await startPostgres() : undefined;
  stack.defer(() => server?.close());
  const url = await server?.createDatabase();
  const model = stack.use(await startScriptedModel({ key: MODEL_KEY }));
  const random = createRandom(options.seed);
  const spawnedMs = systemClock.now();
  const env = { ...environmentOf(home, model), ...(url !== undefined && { HEADGATE_STORE_URL: url }) };
  const daemon = stack.use(await startDaemon({ home, model: model.url, env }));
  const stored = diskReader(home, url);
  const boot = { spawnedMs, readyMs: systemClock.now() };
  const recorder = createRecorder(daemon, { budgetBytes: BUDGET_BYTES, secrets: SECRETS, boot, stored });
  const score = { rounds: 0, kills: 0, killsAtStart: 0, databaseKills: 0, cuts: 0 };
  const stage: Stage = { daemon, model, recorder, random, env, stored, server, outages: [], score };
  const { violations, tally } = await drill(stage, options).catch((error: unknown) => {
    throw new Error(`the drill stopped after ${score.rounds} rounds; the home is ${home}`, { cause: error });
  });
  if (violations.length === 0 && options.home === undefined)
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  return { violations, home, score: { ...score, ...tally, violations: violations.length } };
}

const environmentOf = (home: string, model: ScriptedModel): Record<string, string> => ({
  HOME: path.dirname(home),
  OPENAI_BASE_URL: model.url,
  OPENAI_API_KEY: MODEL_KEY,
  HEADGATE_DRILL_CANARY: CANARY,
});

const SECRETS = [
  { name: 'the key of the model', value: MODEL_KEY },
  { name: 'a secret of the environment', value: CANARY },
  { name: 'the password of the database', value: POSTGRES_PASSWORD },
  { name: 'the password in the address of the database', value: encodeURIComponent(POSTGRES_PASSWORD) },
];

async function drill(stage: Stage, options: DrillOptions) {
  const { daemon, recorder, score } = stage;
  let tally: Tally = NOTHING_SEEN;
  const effectsFiles: string[] = [];
  let violations: Violation[] = [];
  for (let chapter = 0; score.rounds < options.rounds && violations.length === 0; chapter += 1) {
    const isSandboxed = options.sandbox && chapter % 2 === 0;
    await writeFile(
      path.join(daemon.home, 'config.json'),
      JSON.stringify({
        tools: { sandbox: isSandboxed ? 'auto' : 'off' },
        budgets: budgetsOf(chapter, await stage.stored.read([])),
        // In a long round, questions expire that nobody answers.
        approvalTimeoutSecs: chapter % 3 === 0 ? 3_600 : 10,
      }),
    );
    // At once, because a long first round uses more than a shared budget allows.
    const client = await daemon.client();
    await client.call('config.reload', {});
    client.close();
    const rounds = Math.min(ROUNDS_PER_CHAPTER, options.rounds - score.rounds);
    const name = `chapter-${chapter}`;
    effectsFiles.push(path.join(daemon.home, 'workspace', `${name}.txt`));
    const evidence = await playChapter(stage, { name, rounds, tokens: answerTokens(chapter) });
    violations = await judge(evidence, daemon.home);
    tally = tallyOf(evidence, tally);
    recorder.forget();
    stage.model.requests.length = 0; // they hold whole conversations
    options.say(`${score.rounds} rounds, ${tally.eventsSeen} events seen, ${violations.length} violations`);
  }
  const found = await recorder.evidence({ settled: true, effectsFiles, withFiles: true });
  const whole = { ...found, outages: stage.outages };
  if (violations.length === 0) violations = await judge(whole, daemon.home);
  const { disk, effects, boots } = whole;
  return {
    violations,
    tally: { ...tally, ...storedIn(disk), effects: effects.length, recoveryMs: recoveryOf(boots) },
  };
}

/** Some rounds with separate workstreams; stops at a violation. Returns the final evidence. */
async function playChapter(
  stage: Stage,
  { name, rounds, tokens }: { name: string; rounds: number; tokens: ReturnType<typeof answerTokens> },
): Promise<Evidence> {
  const { daemon, model, recorder, score } = stage;
  const effectsFile = `${name}.txt`;
  const cast = await openChapter({ ...stage, name, onCut: () => (score.cuts += 1) });
  const wsId = cast.wsIds.at(-1); // no coordinator
  if (score.rounds === 0 && wsId !== undefined) {
    const effect = { tag: `${name}-rehearsal`, file: effectsFile };
    await within(rehearse({ wsId, recorder, model, effect, next: cast.next }), REHEARSAL_MS, () => 'the rehearsal');
    score.kills += 1;
  }
  model.onRequest(createMoods(stage.random.fork(`moods of ${name}`), { name, effectsFile, tokens }));
  const scope = { effectsFiles: [path.join(daemon.home, 'workspace', effectsFile)] };
  let earlier: Evidence['disk'] | undefined;
  for (let round = 0; round < rounds; round += 1) {
    const random = stage.random.fork(`round ${score.rounds}`);
    await playRound(stage, cast, random);
    score.rounds += 1;
    const found = await recorder.evidence({
      ...scope,
      wsIds: await cast.withChildren(),
      settled: false,
      earlier,
      withFiles: false,
    });
    const evidence = { ...found, requests: sentTo(model), outages: stage.outages };
    if (check(evidence).length > 0) return evidence;
    earlier = evidence.disk;
    await startAgain(stage, random);
  }
  await cast.settle(stage.random.fork(`end of ${name}`));
  await recorder.sampleMemory();
  const evidence = await recorder.evidence({
    ...scope,
    wsIds: await cast.withChildren(),
    settled: true,
    earlier,
    withFiles: true,
  });
  cast.leave();
  return { ...evidence, requests: sentTo(model), outages: stage.outages };
}

const sentTo = ({ requests }: ScriptedModel) => requests.map(({ body }) => body.messages);

/** All actors and readers work until the daemon is killed. Sometimes the database is killed before. */
async function playRound(stage: Stage, cast: Awaited<ReturnType<typeof openChapter>>, random: Random) {
  const { recorder, score } = stage;
  const over = new AbortController();
  const acting = cast.act(random, over.signal);
  const lifeMs = random.chance(0.02) ? LONG_MS : random.chance(0.15) ? random.int(0, 60) : random.int(60, 900);
  const outage = killDatabase(stage, random.fork('database'), lifeMs);
  await wait(lifeMs);
  await recorder.sampleMemory();
  over.abort();
  await recorder.kill9();
  score.kills += 1;
  await acting;
  await outage;
}

const wait = (ms: number) => systemClock.sleep(ms, new AbortController().signal);

/** The daemon is killed while the server is down, or lives to see it again. */
async function killDatabase({ server, score, outages }: Stage, random: Random, lifeMs: number): Promise<void> {
  if (server === undefined || random.chance(0.5)) return;
  await wait(random.int(0, lifeMs));
  const fromMs = systemClock.now();
  await server.kill();
  score.databaseKills += 1;
  await wait(random.int(0, 500));
  await server.start();
  outages.push({ fromMs, toMs: systemClock.now() + RECONNECTING_MS });
}

/** How long a daemon may take to use the server again. */
const RECONNECTING_MS = 10_000;

async function startAgain({ daemon, env, recorder, score }: Stage, random: Random): Promise<void> {
  while (random.chance(0.25)) {
    const { boot, output } = await killWhileStarting(daemon, { env, afterMs: random.int(0, 450) });
    recorder.stillborn(boot, output);
    score.kills += 1;
    score.killsAtStart += 1;
  }
  await recorder.restart();
}

/** The violations. If there are any, the evidence is stored next to the home. */
async function judge(evidence: Evidence, home: string): Promise<Violation[]> {
  const violations = check(evidence);
  if (violations.length > 0) {
    await writeFile(path.join(path.dirname(home), 'evidence.json'), JSON.stringify(evidence, undefined, 1));
  }
  return violations;
}
