import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Usage } from '../../agent/providers/model.ts';
import type { Decision } from '../../agent/run/journal.ts';
import type { BudgetedCall } from '../../agent/run/limits/run-budget.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import { storeEngine } from '../../testing/store-engine.ts';
import { tempStore } from '../../testing/temp-store.ts';
import type { RunRecord } from '../runs/run-record.ts';
import { DAEMON } from '../sharing/perception.ts';
import type { BudgetSettings } from './budget-key.ts';
import { Budgets } from './budgets.ts';
import { forgetReservation, reserve } from './reservation-rows.ts';
import { addUsage, readUsage } from './usage-rows.ts';

const usageOf = (promptTokens: number, completionTokens: number): Usage => ({
  ...{ promptTokens, completionTokens },
  ...{ cacheCreationTokens: 0, cacheReadTokens: 0 },
});
const MODEL = { provider: 'openai', modelId: 'm', price: { input: 1, output: 1 } };
const [MOST, EXPECTED] = [usageOf(600, 400), usageOf(100, 50)];
const CALL: BudgetedCall = { model: MODEL, size: () => ({ most: MOST, expected: EXPECTED }) };
const FREE: BudgetedCall = { ...CALL, model: { provider: 'openai', modelId: 'local' } };

const runOf = (n: number): RunRecord => ({
  ...{ runId: `run-${n}`, wsId: `ws-${n}`, principal: 'ada', source: 'person', epoch: 1, acceptedMs: 0 },
  request: { message: 'hi' },
});

async function setUp(settings: BudgetSettings) {
  const store = await tempStore();
  const clock = fakeClock(1_000);
  const live = { budgets: settings };
  let lastId = 0;
  const ids = { id: (prefix: string) => `${prefix}_${++lastId}` };
  const budgets = new Budgets({ store, live, clock, ids });
  const spend = (run: RunRecord, usage: Usage, model = MODEL) =>
    store.commit({
      statements: [addUsage(run, { usage, model }, 1_000), forgetReservation(run.runId)],
    });
  const total = async () => {
    const { inputTokens, outputTokens } = (await readUsage(store, 'day', { viewer: DAEMON })).total;
    return inputTokens + outputTokens;
  };
  const begin = async (run: RunRecord, call = CALL) => budgets.forRun(run).reserve(call, new AbortController().signal);
  const question = async (run: RunRecord) => {
    const found = await begin(run);
    return found.kind === 'exhausted' ? found.question : undefined;
  };
  return {
    store,
    clock,
    live,
    ids,
    question,
    budgets,
    spend,
    total,
    begin,
    [Symbol.asyncDispose]: store[Symbol.asyncDispose],
  };
}

/** A generator of numbers from 0 to 1 that repeats itself for the same seed. */
function dice(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

for (const seed of [1, 2, 3]) {
  test(`50 runs at once go over a limit by one call at most (seed ${seed})`, async () => {
    await using world = await setUp({ day: { tokens: 20_000 } });
    const random = dice(seed);
    let [inFlight, mostInFlight, largest] = [0, 0, 0];
    const work = async (n: number): Promise<void> => {
      const run = runOf(n);
      const budget = world.budgets.forRun(run);
      for (;;) {
        const held = await budget.reserve(CALL, new AbortController().signal);
        if (held?.kind !== 'held') return;
        inFlight += 1;
        mostInFlight = Math.max(mostInFlight, inFlight);
        for (let turns = random() * 20; turns > 0; turns -= 1) await new Promise(setImmediate);
        const used = usageOf(Math.ceil(random() * 600), Math.ceil(random() * 400));
        largest = Math.max(largest, used.promptTokens + used.completionTokens);
        inFlight -= 1;
        await world.spend(run, used);
        held.release(used);
      }
    };
    await Promise.all(Array.from({ length: 50 }, (_, n) => work(n)));
    const total = await world.total();
    assert.ok(total >= 20_000 && total < 20_000 + largest, `${total}, with calls of up to ${largest}`);
    assert.ok((mostInFlight > 5 || !storeEngine().isSqlite) && mostInFlight <= 20, `${mostInFlight} at once`);
  });
}

const NEVER = new AbortController().signal;

test('a call that may not fit waits until it is the only one', async () => {
  await using world = await setUp({ day: { tokens: 1_500 } });
  const first = await world.begin(runOf(1));
  assert.equal(first?.kind, 'held');
  let isAdmitted = false;
  const second = world.begin(runOf(2)).then((held) => {
    isAdmitted = true;
    return held;
  });
  for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
  assert.equal(isAdmitted, false);
  if (first?.kind === 'held') first.release(undefined);
  assert.equal((await second)?.kind, 'held');
});

test('a call that waits stops with its run, and a run that stops holds nothing', async () => {
  await using world = await setUp({ day: { tokens: 500 } });
  const [running, waiting] = [new AbortController(), new AbortController()];
  const held = await world.budgets.forRun(runOf(1)).reserve(CALL, running.signal);
  assert.equal(held?.kind, 'held');
  const stopped = world.budgets.forRun(runOf(2)).reserve(CALL, waiting.signal);
  waiting.abort(new Error('cancelled'));
  await assert.rejects(stopped, /cancelled/);
  const third = world.begin(runOf(3));
  running.abort(new Error('cancelled'));
  assert.equal((await third)?.kind, 'held');
});

test('each budget counts what belongs to it, and says by how much it wants to grow', async () => {
  await using world = await setUp({ principal: { tokens: 10_000 }, run: { usd: 0.02 } });
  await world.spend(runOf(1), usageOf(9_000, 999));
  assert.equal((await world.begin(runOf(1)))?.kind, 'held');
  await world.spend(runOf(1), usageOf(1, 0));
  const question = { of: 'principal', key: 'ada', unit: 'tokens', limit: 10_000, spent: 10_000, more: 10_000 };
  assert.deepEqual(await world.question(runOf(2)), { ...question, day: '1970-01-01', lastAnswer: 1_000 });
  assert.equal((await world.begin({ ...runOf(2), principal: 'bob' }))?.kind, 'held');
  await world.clock.advance(86_400_000);
  assert.equal((await world.begin(runOf(2)))?.kind, 'held', 'another day');
  await world.spend({ ...runOf(3), principal: 'eve' }, usageOf(20_000, 0));
  const ofRun = { of: 'run', key: 'run-3', unit: 'usd', limit: 0.02, spent: 0.02, more: 0.04 };
  const asked = await world.question({ ...runOf(3), principal: 'eve' });
  assert.deepEqual(asked, { ...ofRun, lastAnswer: 0.01 });
});

test('calls without a price use no money', async () => {
  await using world = await setUp({ day: { usd: 0.001 } });
  await world.spend(runOf(1), usageOf(2_000, 0));
  assert.equal((await world.begin(runOf(1)))?.kind, 'exhausted');
  assert.equal((await world.begin(runOf(1), FREE))?.kind, 'held');
});

test('the own budget of a workstream replaces that of config.json, and lets a waiting call begin', async () => {
  await using world = await setUp({ workstream: { tokens: 10 } });
  const run = runOf(1);
  await world.spend(run, usageOf(50, 0));
  assert.equal((await world.begin(run))?.kind, 'exhausted');
  await world.budgets.set('ws-1', { tokens: 5_000, usd: 1 });
  const [tokens, usd] = await world.budgets.list({ wsId: 'ws-1' });
  const own = { of: 'workstream', key: 'ws-1' };
  assert.deepEqual(tokens, { ...own, unit: 'tokens', limit: 5_000, spent: 50 });
  assert.deepEqual(usd, { ...own, unit: 'usd', limit: 1, spent: 0.00005 });
  assert.equal((await world.begin(run))?.kind, 'held');
  const again = new Budgets({ store: world.store, live: world.live, clock: world.clock, ids: world.ids });
  await again.recover();
  assert.equal((await again.list({ wsId: 'ws-1' })).length, 2);
  await world.budgets.set('ws-1', {});
  assert.equal((await world.begin(run))?.kind, 'exhausted');
});

test('after a kill, calls without an answer count like the average call of their model, or by their length', async () => {
  await using world = await setUp({ day: { tokens: 100_000 } });
  const reserved = { expected: EXPECTED, model: MODEL };
  await world.store.commit({ statements: [1, 2].map((n) => reserve(runOf(n), reserved, 1_000)) });
  await world.budgets.recover();
  assert.equal(await world.total(), 300);
  await world.spend(runOf(3), usageOf(4_000, 1_000));
  await world.store.commit({ statements: [reserve(runOf(4), reserved, 1_000)] });
  for (let start = 0; start < 2; start += 1) await world.budgets.recover();
  assert.equal(await world.total(), 300 + 5_000 + 5_000);
  const [row] = (await readUsage(world.store, 'day', { viewer: DAEMON })).rows;
  assert.deepEqual([row?.turns, row?.estimatedTokens, row?.costUsd], [1, 5_300, 0.0103]);
});

test('a run is short of budget when there is room for less than two more calls like its last', async () => {
  await using world = await setUp({ run: { tokens: 1_000 } });
  const budget = world.budgets.forRun(runOf(1));
  const shorts: boolean[] = [];
  for (const used of [usageOf(200, 50), usageOf(200, 50), usageOf(200, 50)]) {
    const held = await budget.reserve(CALL, new AbortController().signal);
    await world.spend(runOf(1), used);
    if (held?.kind === 'held') held.release(used);
    shorts.push(budget.isShort());
  }
  assert.deepEqual(shorts, [false, false, true]);
});

test('the last call after a declined question may use what the question says, and no more', async () => {
  await using world = await setUp({ day: { tokens: 20_000 } });
  await world.spend(runOf(1), usageOf(20_000, 0));
  const declined = (await world.question(runOf(1))) ?? assert.fail('no question');
  assert.equal(declined.lastAnswer, 2_000);
  const last = async (run: RunRecord) => {
    const held = await world.budgets.forRun(run).reserveLast(CALL, declined, new AbortController().signal);
    if (!held) return false;
    assert.equal(held.covers(usageOf(0, 0)), false);
    await world.spend(run, MOST);
    held.release(MOST);
    return true;
  };
  const ended = await Promise.all([1, 2, 3, 4].map((n) => last(runOf(n))));
  assert.deepEqual(ended, [true, true, false, false]);
  assert.equal(await world.total(), 22_000);
});

test('runs that meet one budget share a question, and its answer makes what was read before outdated', async () => {
  await using world = await setUp({ day: { tokens: 100 }, workstream: { tokens: 1_000 } });
  await world.spend(runOf(1), usageOf(100, 0));
  const meet = async (run: RunRecord) => {
    const found = await world.begin(run);
    return found.kind === 'exhausted' ? found : assert.fail('there is room');
  };
  const [one, two, late] = [await meet(runOf(1)), await meet(runOf(2)), await meet(runOf(3))];
  const first = one.join(9_000) ?? assert.fail('no question');
  const second = two.join(9_500) ?? assert.fail('no question');
  assert.deepEqual([second.approvalId, second.expiresAtMs], [first.approvalId, 9_000]);
  const order: string[] = [];
  const asking = second.ask(async ({ isFirst }) => void order.push(`second ${isFirst}`), NEVER);
  await first.ask(async ({ isFirst }) => void order.push(`first ${isFirst}`), NEVER);
  assert.deepEqual([await asking, order], [true, ['first true', 'second false']]);
  const decision: Decision = { approved: true, feedback: '', always: false, by: { kind: 'principal', id: 'ada' } };
  world.budgets.questions.settle(first.approvalId, runOf(1), decision);
  assert.deepEqual(await world.budgets.questions.answerTo(first.approvalId), decision);
  assert.equal(late.join(9_900), undefined);
});

/** A used-up budget; `join` lets a run join the question about it. */
async function usedUp() {
  const world = await setUp({ day: { tokens: 100 } });
  await world.spend(runOf(1), usageOf(100, 0));
  const join = async (run: RunRecord) => {
    const found = await world.begin(run);
    return (found.kind === 'exhausted' && found.join(9_000)) || assert.fail('no question');
  };
  return { ...world, join };
}

test('if the first run cannot store the question, the others ask again', async () => {
  await using world = await usedUp();
  const { join } = world;
  const [first, second] = [await join(runOf(1)), await join(runOf(2))];
  const asking = second.ask(() => assert.fail('nothing to record'), NEVER);
  await assert.rejects(
    first.ask(() => Promise.reject(new Error('no disk')), NEVER),
    /no disk/,
  );
  assert.equal(await asking, false);
  assert.notEqual((await join(runOf(2))).approvalId, first.approvalId);
});

test('a question outlives the run that asked it first, and ends with the last one', async () => {
  await using world = await usedUp();
  const { join } = world;
  const { approvalId } = await join(runOf(1));
  await join(runOf(2));
  const { questions } = world.budgets;
  const [passed] = questions.leave(approvalId, runOf(1))?.statements ?? [];
  assert.deepEqual(passed?.parameters.slice(0, 3), ['ws-2', 'run-2', approvalId]);
  assert.equal(questions.leave(approvalId, runOf(2))?.isElsewhere, false);
  questions.settle(approvalId, runOf(2), undefined);
  assert.equal(questions.answerTo(approvalId), undefined);
});

test('a run that is stopped while it asks has asked, and one that only waits to ask has not', async () => {
  await using world = await usedUp();
  const { join } = world;
  const [first, second] = [await join(runOf(1)), await join(runOf(2))];
  const stop = new AbortController();
  const storing = Promise.withResolvers<void>();
  const asking = first.ask(() => storing.promise, stop.signal);
  const joining = second.ask(() => assert.fail('nothing to record'), stop.signal);
  stop.abort(new Error('cancelled'));
  await assert.rejects(joining, /cancelled/);
  storing.resolve();
  assert.equal(await asking, true, 'its end will settle the question');
  assert.equal(world.budgets.questions.leave(first.approvalId, runOf(1))?.isElsewhere, false, 'nobody else waits');
});

test('nobody joins a question while the end of its last run is being stored, unless that fails', async () => {
  await using world = await usedUp();
  const { approvalId } = await world.join(runOf(1));
  const leaving = world.budgets.questions.leave(approvalId, runOf(1));
  leaving?.undo();
  assert.equal((await world.join(runOf(2))).approvalId, approvalId, 'the end was not stored');
  const { questions } = world.budgets;
  questions.settle(approvalId, runOf(2), undefined);
  questions.leave(approvalId, runOf(1));
  assert.notEqual((await world.join(runOf(3))).approvalId, approvalId);
});
