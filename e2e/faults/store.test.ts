import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { GatewayError } from '../../protocol/errors.ts';
import type { Model, ModelRequest } from '../../src/agent/providers/model.ts';
import type { SqliteStore } from '../../src/gateway/store/sqlite-store.ts';
import { calling, puppetModels } from '../../src/gateway/testing/puppet-model.ts';
import { type WholeGateway, wholeGateway } from '../../src/gateway/testing/whole-gateway.ts';
import { randomIds } from '../../src/ids.ts';
import { until } from '../../src/timing/until.ts';
import { readLedger, speechOf } from '../support/daemon/ledger.ts';
import { noWrites, type StoreCall, tappedStore } from '../support/faults/faulty-store.ts';

/** A folder in memory, because the test syncs thousands of commits. */
const MEMORY = '/dev/shm';
/** The number of calls, spread evenly over the script, that fail once each; FAULT_ROUNDS=100000 takes all. */
const ROUNDS = Number(process.env.FAULT_ROUNDS ?? 7);

const ioError = () => Object.assign(new Error('disk I/O error'), { code: 'ERR_SQLITE_ERROR', errcode: 10 });
const noReads = () => new GatewayError('UNAVAILABLE', 'The disk cannot be read', { retryAfterMs: 1_000 });

const FAULTS: Record<string, (call: StoreCall) => Error | undefined> = {
  'a disk that refuses writes': (call) => (call === 'commit' ? noWrites() : undefined),
  'a disk that cannot be read': (call) => (call === 'read' ? noReads() : undefined),
  'an unexpected store failure': ioError,
};

for (const [title, failureOf] of Object.entries(FAULTS)) {
  test(`${title}, at sampled store calls of a script of a hundred steps: each ends in a typed error or a recovered run, and the script continues`, async (t) => {
    let calls = 0;
    let due = Number.POSITIVE_INFINITY;
    const failing = (call: StoreCall) => {
      const failure = failureOf(call);
      if (!failure) return undefined;
      calls += 1;
      return calls === due ? failure : undefined;
    };
    const tap = (store: SqliteStore) => tappedStore(store, failing);
    await using gateway = await wholeGateway({ models: MODELS, tap, ...(existsSync(MEMORY) && { parent: MEMORY }) });
    const fair = () => {
      due = Number.POSITIVE_INFINITY;
    };
    await play(gateway, { round: 'undisturbed', fair: () => undefined });
    const total = calls;
    const stride = Math.ceil(total / ROUNDS);
    for (let nth = 1; nth <= total; nth += stride) {
      calls = 0;
      due = nth;
      await play(gateway, { round: `round ${nth}`, fair });
    }
    const broken = gateway.log.lines.filter(([, message]) => message.includes('listener'));
    assert.deepEqual(broken, []);
    t.diagnostic(`${STEPS.length} steps, ${total} store calls`);
  });
}

/** A workstream, its messages and decisions so far, and its clock. */
interface Scene {
  gateway: WholeGateway;
  round: string;
  wsId: string;
  /** Every message has a new text and a new key. */
  said: number;
}

type Step = (scene: Scene) => Promise<unknown>;

const say =
  (what: string, stops: (scene: Scene) => Promise<void>): Step =>
  async (scene) => {
    const message = `${what} ${scene.said}`;
    const { wsId } = scene;
    await scene.gateway.call('workstream.send', { wsId, message, idempotencyKey: `${scene.round} ${scene.said}` });
    scene.said += 1;
    await stops(scene);
  };

const decide =
  (approved: boolean): Step =>
  async (scene) => {
    const [pending] = (await scene.gateway.call('approval.list', { wsId: scene.wsId })).approvals;
    if (pending) await scene.gateway.call('approval.resolve', { approvalId: pending.approvalId, approved });
    await idle(scene);
  };

const command =
  (text: string): Step =>
  async ({ gateway, wsId }) =>
    gateway.call('workstream.command', { wsId, command: text });

const cancel =
  (force: boolean): Step =>
  async (scene) => {
    await scene.gateway.call('workstream.cancel', { wsId: scene.wsId, force });
    await idle(scene);
  };

const look: Step[] = [
  ({ gateway }) => gateway.call('workstream.list', {}),
  ({ gateway, wsId }) => gateway.call('workstream.get', { wsId }),
  ({ gateway, wsId }) => gateway.call('workstream.history', { wsId, limit: 5 }),
  ({ gateway, wsId }) => gateway.call('chat.history', { sessionKey: wsId }),
  ({ gateway }) => gateway.call('sessions.list', {}),
  ({ gateway }) => gateway.call('workstream.saved', { limit: 5 }),
];

const talk = (scene: Scene) => say('talk', idle)(scene);
const ask = (scene: Scene) => say('touch', asksOrIdle)(scene);
const drone = (scene: Scene) => say('drone', async () => undefined)(scene);

const rename: Step = ({ gateway, wsId, round, said }) =>
  gateway.call('workstream.update', { wsId, name: `${round.replaceAll(' ', '-')}-${said}` });

const closeAndReopen: Step[] = [
  ({ gateway, wsId }) => gateway.call('workstream.close', { wsId }),
  ({ gateway, wsId }) => gateway.call('workstream.create', { resumeWs: wsId }),
];

/** With the older methods: one run with `agent`, one with `chat.send`. */
const older: Step[] = [
  ({ gateway, wsId, round, said }) =>
    gateway
      .call('agent', { message: 'talk', sessionKey: wsId, idempotencyKey: `agent ${round} ${said}` })
      .catch((error: unknown) => assertTyped(error, round)), // a repeat returns the run's recorded failure
  async (scene) => {
    const { gateway, wsId, round, said } = scene;
    await gateway.call('chat.send', { message: 'look', sessionKey: wsId, idempotencyKey: `chat ${round} ${said}` });
    await idle(scene);
  },
  ({ gateway, wsId }) => gateway.call('sessions.patch', { key: wsId, thinkingLevel: 'low' }),
  ({ gateway, wsId }) => gateway.call('chat.abort', { sessionKey: wsId }),
];

const ROUND: Step[] = [
  ...[talk, ...look, ask, decide(true), ask, decide(false), drone, cancel(false), drone, drone, cancel(true)],
  ...[ask, cancel(false), rename, command('/clear'), talk, command('/history'), ...older, ...closeAndReopen],
];
const STEPS = [...ROUND, ...ROUND, ...ROUND, ...ROUND];

/** Runs the script in a new workstream. A failed step is retried once, as a client would. */
async function play(gateway: WholeGateway, { round, fair }: { round: string; fair(): void }): Promise<void> {
  const create = () => gateway.call('workstream.create', { idempotencyKey: `create ${round}` });
  const { wsId } = await create().catch((error: unknown) => {
    assertTyped(error, `${round}: create`);
    return create();
  });
  const scene: Scene = { gateway, round, wsId, said: 0 };
  for (const [index, step] of STEPS.entries()) {
    await inTime(gateway, step(scene)).catch(async (error: unknown) => {
      assertTyped(error, `${round}: step ${index}`);
      await inTime(gateway, step(scene)).catch((again: unknown) =>
        assert.fail(`${round}: step ${index}, again: ${error}; ${stackOf(again)}`),
      );
    });
  }
  fair();
  await inTime(gateway, talk(scene));
  const ledger = readLedger(gateway.dir, wsId);
  assert.deepEqual(speechOf(ledger).slice(-2), [`user: talk ${scene.said - 1}`, 'assistant: well said'], round);
  assert.deepEqual(
    ledger.runs.filter(({ run }) => run.status === 'queued' || run.status === 'running'),
    [],
  );
  await gateway.call('workstream.close', { wsId });
}

function assertTyped(error: unknown, where: string): void {
  if (error instanceof GatewayError && ['UNAVAILABLE', 'INTERNAL'].includes(error.code)) return;
  assert.fail(`${where}: ${stackOf(error)}`);
}

const stackOf = (error: unknown) => (error instanceof Error ? error.stack : String(error));

/** According to the database, nothing runs and nothing is pending. */
const idle = (scene: Scene) => settles(scene, async () => (await openRuns(scene)) === 0);

const asksOrIdle = (scene: Scene) =>
  settles(scene, async () => (await openQuestions(scene)) > 0 || (await openRuns(scene)) === 0);

async function openRuns({ gateway, wsId }: Scene): Promise<number> {
  const rows = gateway.store.db.selectFrom('runs').select('run_id').where('status', 'in', ['queued', 'running']);
  return (await rows.where('ws_id', '=', wsId).execute()).length;
}

async function openQuestions({ gateway, wsId }: Scene): Promise<number> {
  const rows = gateway.store.db.selectFrom('approvals').select('approval_id').where('status', '=', 'pending');
  return (await rows.where('ws_id', '=', wsId).execute()).length;
}

async function settles({ round, said }: Scene, isSo: () => Promise<boolean>): Promise<void> {
  for (let turn = 1; turn <= 1_000; turn += 1) {
    if (await isSo()) return;
    await new Promise(setImmediate);
  }
  assert.fail(`${round}: never settled after message ${said}`);
}

/** Lets the event loop turn until the work is done, and sometimes advances the clock for retries. */
async function inTime<T>({ clock }: WholeGateway, work: Promise<T>): Promise<T> {
  let isDone = false;
  const mark = () => {
    isDone = true;
  };
  work.then(mark, mark);
  for (let turn = 1; turn <= 3_000 && !isDone; turn += 1) {
    if (turn % 15 === 0) await clock.advance(1_000);
    else await new Promise(setImmediate);
  }
  if (!isDone) assert.fail('a call was never answered');
  return work;
}

/** The message selects the behaviour: the model talks, calls the named tool once, or answers until it is stopped. */
const model: Model = {
  ...{ alias: 'puppet', provider: 'puppet', modelId: 'puppet', family: 'puppet', fallback: [], contextWindow: 100_000 },
  async *stream(request: ModelRequest, signal: AbortSignal) {
    const asked = request.messages.findLast((message) => message.role === 'user');
    const [word = ''] = asked?.role === 'user' ? asked.content.split(' ') : [];
    const isAnswered = request.messages.at(-1)?.role === 'tool';
    if (word === 'drone') {
      yield { type: 'content', text: 'and on ' };
      await until(new Promise(() => undefined), signal);
    }
    const calls = word === 'touch' || word === 'look';
    if (calls && !isAnswered) yield calling(word, {}, randomIds.id('call'));
    else for (const text of ['well ', 'said']) yield { type: 'content', text };
    const usage = { promptTokens: 1, completionTokens: 1, cacheCreationTokens: 0, cacheReadTokens: 0 };
    yield { type: 'finish', reason: calls && !isAnswered ? 'tool_calls' : 'stop', usage };
  },
};
const MODELS = { ...puppetModels().models, resolve: async () => model };
