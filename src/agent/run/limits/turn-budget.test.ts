import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BudgetQuestion } from '../../../../protocol/run-outcome.ts';
import type { Model, Usage } from '../../providers/model.ts';
import type { JournalEntry } from '../journal.ts';
import { runToEnd } from '../run.ts';
import { answerOf, approvedBatch, callOf, type FixtureOptions, runFixture, type Turn, USAGE } from '../run-fixture.ts';
import type { Held, RunBudget, SharedQuestion } from './run-budget.ts';
import { TurnBudget } from './turn-budget.ts';

const QUESTION: BudgetQuestion = { of: 'day', key: '2026-01-31', unit: 'tokens', limit: 10, spent: 12, more: 5 };

/** A budget for so many calls; `log` has what happened to it. */
function budgetOf(calls: number, { mayContinue = true, lastCalls = 1 }: { mayContinue?: boolean; lastCalls?: number }) {
  const log: (string | Usage | undefined)[] = [];
  let left = calls;
  const held: Held = {
    kind: 'held',
    covers: () => mayContinue,
    release: (used) => log.push(used),
    drop: () => log.push('dropped'),
  };
  const shared: SharedQuestion = {
    ...{ approvalId: 'apr_1', budget: QUESTION, expiresAtMs: 9_000 },
    async ask(record) {
      await record({ isFirst: true });
      return true;
    },
  };
  const budget: RunBudget = {
    isLimited: () => true,
    async reserve() {
      log.push('asked');
      left -= 1;
      return left >= 0 ? held : { kind: 'exhausted', question: QUESTION, join: () => shared };
    },
    async reserveLast() {
      log.push('asked for the last');
      return lastCalls > 0 ? held : undefined;
    },
    isShort: () => left === 1,
  };
  return { budget, log };
}

function spending(calls: number, options: FixtureOptions & { mayContinue?: boolean; lastCalls?: number } = {}) {
  const { budget, log } = budgetOf(calls, options);
  const tools = { act: { readOnly: true } };
  const turns: Turn[] = [1, 2, 3].map((n) => answerOf('', [callOf(`c${n}`, 'act', `{"n":${n}}`)]));
  const fixture = runFixture({ turns: [...turns, answerOf('done')], tools, budget, ...options });
  const outcome = () => {
    const ended = fixture.steps.at(-1)?.ended;
    return [ended?.status, ended?.limit, ended?.error];
  };
  return { ...fixture, log, outcome };
}

test('every call is reserved before it is made, and released with its usage', async () => {
  const fixture = spending(4);
  await runToEnd(fixture.run);
  assert.deepEqual(fixture.log, Array(4).fill(['asked', USAGE]).flat());
  const reserved = fixture.steps.filter((step) => step.reserved);
  assert.deepEqual(
    reserved.map(({ journal }) => journal?.map(({ kind }) => kind)),
    Array(4).fill(['model_called']),
  );
});

test('an unattended run gets one turn to finish before its budget is used up', async () => {
  const fixture = spending(2, { policy: { mode: 'deny' } });
  await runToEnd(fixture.run);
  const results = fixture.messages.filter((message) => message.role === 'tool');
  assert.match(results[0]?.notice ?? '', /almost used up its budget.* next answer is the last/);
  assert.deepEqual([fixture.requests.length, results.map(({ outcome }) => outcome)], [2, ['done', 'cancelled']]);
  assert.deepEqual(fixture.outcome(), [
    'error',
    'budget',
    'The run was ended shortly before its budget was used up, because nobody is there to allow more.',
  ]);
});

test('an unattended run without any budget ends at once, and its message was not answered', async () => {
  const fixture = spending(0, { policy: { mode: 'deny' } });
  await runToEnd(fixture.run);
  const error =
    'The budget of today (10 tokens) is used up, and nobody is there to allow more. It starts again at 00:00 UTC. Raise it with budgets.day in config.json.';
  assert.deepEqual(fixture.outcome(), ['error', 'budget', error]);
  assert.deepEqual(fixture.steps.at(-1)?.ended?.failed, { code: 'over_limit', text: error });
  assert.equal(fixture.requests.length, 0);
});

const DECLINED =
  'The budget of today (10 tokens) is used up, and the run was stopped. It starts again at 00:00 UTC. Raise it with budgets.day in config.json.';

test('a person who declines leaves the model one short last answer, whose calls do not run', async () => {
  const fixture = spending(2);
  const ended = runToEnd(fixture.run);
  await fixture.answer({ approved: false, feedback: '' });
  await ended;
  const results = fixture.messages.filter((message) => message.role === 'tool');
  assert.deepEqual(
    results.map(({ notice, outcome }) => [notice, outcome]),
    [
      [undefined, 'done'],
      [undefined, 'done'],
      [undefined, 'cancelled'],
    ],
  );
  const { messages = [], maxOutputTokens } = fixture.requests[2] ?? {};
  const last = messages.at(-1);
  assert.match(last?.role === 'user' ? last.content : '', /^<environment>\nThe budget of this run is used up/);
  assert.deepEqual([fixture.requests.length, maxOutputTokens], [3, 4_000]);
  assert.deepEqual(fixture.outcome(), ['error', 'budget', DECLINED]);
});

test('a last answer that the allowance does not cover is not requested', async () => {
  const fixture = spending(2, { lastCalls: 0 });
  const ended = runToEnd(fixture.run);
  await fixture.answer({ approved: false, feedback: '' });
  await ended;
  assert.equal(fixture.requests.length, 2);
  assert.deepEqual(fixture.outcome(), ['error', 'budget', DECLINED]);
});

test('a run that was interrupted in its last answer asks nobody again, and tells the model only once', async () => {
  const reason = DECLINED;
  const before: JournalEntry[] = [
    ...approvedBatch([callOf('c1', 'act', '{"n":1}')]),
    { kind: 'tool_finished', callId: 'c1' },
    { kind: 'wrap_up', limit: 'budget', question: QUESTION, reason },
  ];
  for (const journal of [before, [...before, { kind: 'model_called', afterSeq: 4 } as const]]) {
    const fixture = spending(0, { journal, turns: [answerOf('That is it.')] });
    await runToEnd(fixture.run);
    assert.deepEqual([fixture.requests.length, fixture.outcome()], [1, ['error', 'budget', DECLINED]]);
    assert.equal(fixture.events.filter(({ type }) => type === 'approve_request').length, 0);
    assert.equal(fixture.journal.filter(({ kind }) => kind === 'wrap_up').length, 0);
  }
});

test('auto-approve does not spend more: a person is asked all the same', async () => {
  const fixture = spending(0, { autoApprove: true });
  const ended = runToEnd(fixture.run);
  while (!fixture.events.some(({ type }) => type === 'approve_request')) await new Promise(setImmediate);
  const question = fixture.events.find((event) => event.type === 'approve_request');
  assert.deepEqual([question?.kind, question?.items, question?.budget], ['budget', [], QUESTION]);
  await fixture.answer({ approved: false });
  await ended;
});

test('a text that was cut off is not continued if the budget does not cover another request', async () => {
  const cut: Turn = [
    { type: 'content', text: 'half' },
    { type: 'finish', reason: 'length', usage: USAGE },
  ];
  const fixture = spending(5, { turns: [cut, answerOf('rest')], mayContinue: false });
  await runToEnd(fixture.run);
  assert.deepEqual([fixture.requests.length, fixture.steps.at(-1)?.ended?.status], [1, 'incomplete']);
});

test('the usage of a server that reports none is estimated', async () => {
  const silent: Turn = [
    { type: 'content', text: 'x'.repeat(400) },
    { type: 'finish', reason: 'stop', usage: { ...USAGE, promptTokens: 0, completionTokens: 0 } },
  ];
  const fixture = spending(5, { turns: [silent] });
  await runToEnd(fixture.run);
  const usage = fixture.steps.find((step) => step.usage)?.usage;
  assert.deepEqual([usage?.isEstimated, (usage?.spent?.promptTokens ?? 0) > 0], [true, true]);
  assert.ok((usage?.spent?.completionTokens ?? 0) >= 100);
  assert.deepEqual(fixture.log.at(-1), usage?.spent);
});

test('a model that takes over is reserved in the place of the first one, with its own price', async () => {
  const { run, log, steps } = spending(5);
  const budget = new TurnBudget(run);
  const model = await run.settings.model(async () => ({}));
  const other: Model = { ...model, modelId: 'dear', price: { input: 10, output: 50 } };
  await budget.reserve({ model });
  const { reserved } = await budget.reserve({ model: other, isTakeOver: true });
  budget.release(USAGE);
  assert.deepEqual(reserved?.model, { provider: 'test', modelId: 'dear', price: { input: 10, output: 50 } });
  assert.deepEqual(log, ['asked', 'dropped', 'asked', USAGE]);
  assert.equal(steps.filter(({ events }) => events?.some(({ type }) => type === 'approve_request')).length, 0);
});

/** A conversation that is summarized before its answer. */
const long = (calls: number, options: FixtureOptions = {}) =>
  spending(calls, {
    answer: ({ system }) => answerOf(system.startsWith('You summarize') ? 'S' : 'done'),
    messages: [
      { role: 'user', content: 'x'.repeat(3_000) },
      { role: 'assistant', content: 'y'.repeat(3_000), toolCalls: [] },
      { role: 'user', content: 'go on' },
    ],
    ...options,
  });

test('a summary is reserved in place of the call, counted with its answer, and then the call is reserved again', async () => {
  const fixture = long(20);
  await runToEnd(fixture.run);
  const parts = fixture.requests.length - 1;
  const summaries = Array.from({ length: parts }, () => ['asked', undefined]).flat();
  assert.deepEqual(fixture.log, ['asked', 'dropped', ...summaries, 'asked', USAGE]);
  const shapes = fixture.steps.flatMap(({ reserved, summarized, cut, usage }) => [
    ...(reserved ? ['reserved'] : []),
    ...(summarized ? ['summarized'] : []),
    ...(cut ? ['cut'] : []),
    ...(usage ? ['usage'] : []),
  ]);
  assert.deepEqual(shapes, [
    'reserved',
    ...Array.from({ length: parts }, () => ['reserved', 'summarized']).flat(),
    'cut',
    'reserved',
    'usage',
  ]);
  assert.deepEqual(fixture.outcome(), ['ok', undefined, undefined]);
});

test('a person is asked before a summary, too, and who declines ends a run that has not begun', async () => {
  const fixture = long(1);
  const ended = runToEnd(fixture.run);
  await fixture.answer({ approved: false });
  await ended;
  assert.equal(fixture.requests.length, 0);
  assert.deepEqual(fixture.outcome(), ['error', 'budget', DECLINED]);
});
