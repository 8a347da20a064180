import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BudgetQuestion } from '../../../../protocol/run-outcome.ts';
import type { Usage } from '../../providers/model.ts';
import { runToEnd } from '../run.ts';
import { answerOf, callOf, type FixtureOptions, runFixture, type Turn, USAGE } from '../run-fixture.ts';
import type { Held, RunBudget } from './run-budget.ts';

const QUESTION: BudgetQuestion = { of: 'day', key: '2026-01-31', unit: 'tokens', limit: 10, spent: 12, more: 5 };

/** A budget for so many calls; `log` has what happened to it. */
function budgetOf(calls: number, { mayContinue = true }: { mayContinue?: boolean }) {
  const log: (string | Usage | undefined)[] = [];
  let left = calls;
  const held: Held = { kind: 'held', covers: () => mayContinue, release: (used) => log.push(used) };
  const budget: RunBudget = {
    isLimited: () => true,
    async reserve() {
      log.push('asked');
      left -= 1;
      return left >= 0 ? held : { kind: 'exhausted', question: QUESTION };
    },
    isShort: () => left === 1,
  };
  return { budget, log };
}

function spending(calls: number, options: FixtureOptions & { mayContinue?: boolean } = {}) {
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
  const error = 'The budget of today (10 tokens) is used up, and nobody is there to allow more.';
  assert.deepEqual(fixture.outcome(), ['error', 'budget', error]);
  assert.deepEqual(fixture.steps.at(-1)?.ended?.failed, { code: 'over_limit', text: error });
  assert.equal(fixture.requests.length, 0);
});

test('an attended run has no last turn: a person is asked, and the answers in progress stay', async () => {
  const fixture = spending(2);
  const ended = runToEnd(fixture.run);
  await fixture.answer({ approved: false, feedback: '' });
  await ended;
  const results = fixture.messages.filter((message) => message.role === 'tool');
  assert.deepEqual([fixture.requests.length, results.map(({ notice }) => notice)], [2, [undefined, undefined]]);
  assert.deepEqual(fixture.outcome(), [
    'error',
    'budget',
    'The budget of today (10 tokens) is used up, and the run was stopped.',
  ]);
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
