import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GatewayError } from '../../../protocol/errors.ts';
import type { ToolCall } from '../message.ts';
import type { ModelPart } from '../providers/model.ts';
import { StopReason } from '../stop-reason.ts';
import type { JournalEntry } from './journal.ts';
import { type Step, StepOutdated } from './recorder.ts';
import { runToEnd } from './run.ts';
import {
  answerOf,
  askedBatch,
  callOf,
  endless,
  type FixtureOptions,
  has,
  runFixture,
  USAGE,
  until,
} from './run-fixture.ts';

const ONE = callOf('one');
const CANCEL = new StopReason('cancel', 'Cancelled by user');

const resumed = (journal: JournalEntry[], options: FixtureOptions = {}) => runFixture({ ...options, journal });
const asked = (times: number): JournalEntry[] => [
  { kind: 'started' },
  ...Array.from({ length: times }, () => ({ kind: 'model_called', afterSeq: 1 }) as const),
];

test('a turn interrupted twice is repeated; after the third time the run ends', async () => {
  const again = resumed(asked(2));
  assert.deepEqual(
    [await runToEnd(again.run), again.requests.length, again.steps.at(-1)?.ended?.status],
    ['ended', 1, 'ok'],
  );
  const given = resumed(asked(3));
  assert.deepEqual([await runToEnd(given.run), given.requests.length, given.steps.length], ['ended', 0, 1]);
  assert.match(given.steps[0]?.ended?.error ?? '', /interrupted three times/);
});

test('a run whose last answer was recorded only has its end to write', async () => {
  const fixture = resumed([...asked(1), { kind: 'model_answered', calls: [] }], {
    messages: [
      { role: 'user', content: 'hello' },
      { role: 'assistant', content: 'Bye.', toolCalls: [] },
    ],
  });
  assert.equal(await runToEnd(fixture.run), 'ended');
  assert.deepEqual(
    [fixture.requests.length, fixture.steps.length, fixture.steps[0]?.ended],
    [0, 1, { run_id: 'run_1', status: 'ok', summary: 'Bye.' }],
  );
});

test('a resumed batch continues with the next turn', async () => {
  const fixture = resumed(askedBatch([ONE]));
  const ended = runToEnd(fixture.run);
  await fixture.answer({ approved: false }, 'apr_0');
  assert.equal(await ended, 'ended');
  assert.deepEqual(
    fixture.requests[0]?.messages.map(({ role }) => role),
    ['user', 'tool'],
  );
});

test('a run at its turn limit is told to finish, and gets one last answer whose calls do not run', async () => {
  const fixture = runFixture({ turns: Array.from({ length: 300 }, (_, index) => answerOf('', [callOf(`c${index}`)])) });
  assert.equal(await runToEnd(fixture.run), 'ended');
  const error = 'The run was ended after 200 model turns.';
  assert.deepEqual(
    [fixture.requests.length, fixture.steps.at(-1)?.ended],
    [200, { run_id: 'run_1', status: 'error', error, limit: 'turns', summary: error }],
  );
  const results = fixture.messages.filter((message) => message.role === 'tool');
  assert.deepEqual(
    results.map(({ notice, outcome }) => [notice !== undefined, outcome]),
    results.map((_, index) => [index === 198, index === 199 ? 'cancelled' : 'done']),
  );
  assert.match(results[198]?.notice ?? '', /limit of 200 model turns\. Your next answer is the last one/);
});

test('a run that is short of time is told to finish after its calls, and ends as a timeout', async () => {
  const fixture = runFixture({ turns: [answerOf('', [ONE]), answerOf('half done')], isTimeShort: true });
  assert.equal(await runToEnd(fixture.run), 'ended');
  const { status, limit } = fixture.steps.at(-1)?.ended ?? {};
  const last = fixture.messages.at(-1);
  assert.deepEqual(
    [fixture.requests.length, status, limit, last?.role === 'assistant' && last.content],
    [2, 'timeout', 'time', 'half done'],
  );
});

test('after a restart, the last answer of a run at its limit is not asked for again', async () => {
  const limit = 'turns' as const;
  const fixture = resumed([
    ...asked(1),
    { kind: 'model_answered', calls: [ONE] },
    { kind: 'tool_finished', callId: 'one', wrapUp: limit },
    { kind: 'model_called', afterSeq: 3 },
    { kind: 'model_answered', calls: [] },
  ]);
  assert.equal(await runToEnd(fixture.run), 'ended');
  assert.deepEqual([fixture.requests.length, fixture.steps[0]?.ended?.limit], [0, limit]);
});

const cutAnswer = (text: string, calls: ToolCall[] = []): ModelPart[] => [
  ...answerOf(text, calls).slice(0, -1),
  { type: 'finish', reason: 'length', usage: USAGE },
];
const INCOMPLETE = 'The answer is incomplete: it was cut off at the model’s output limit.';

for (const [title, turns, said] of [
  ['a text that stays cut', [cutAnswer('Once'), cutAnswer(' upon')], 'Once upon'],
  ['reasoning alone', [[{ type: 'reasoning', text: 'hm' }, ...cutAnswer('')]]],
  ['calls that are cut twice in a row', [cutAnswer('', [ONE]), cutAnswer('', [callOf('two')])]],
] as const) {
  test(`${title} ends the run as incomplete`, async () => {
    const fixture = runFixture({ turns: turns.map((turn) => [...turn]) });
    assert.equal(await runToEnd(fixture.run), 'ended');
    assert.equal(fixture.requests.length, turns.length);
    const run = { run_id: 'run_1', status: 'incomplete', error: INCOMPLETE };
    assert.deepEqual(fixture.steps.at(-1)?.ended, { ...run, summary: INCOMPLETE, ...(said && { said }) });
    assert.deepEqual(fixture.events.slice(-2), [
      { type: 'error', message: INCOMPLETE },
      { type: 'ws_state', ws_id: 'ws-1', state: 'idle', run },
    ]);
    assert.deepEqual(fixture.journal.at(-1), { kind: 'ended', status: 'incomplete' });
  });
}

test('calls that were cut off do not run, and the model may make smaller ones', async () => {
  const ran: string[] = [];
  const fixture = runFixture({
    turns: [cutAnswer('', [ONE]), answerOf('', [callOf('two')]), answerOf('done')],
    tools: { act: { execute: (_, { id }) => ({ output: `${ran.push(id)}`, outcome: 'done' }) } },
  });
  assert.equal(await runToEnd(fixture.run), 'ended');
  assert.deepEqual([ran, fixture.steps.at(-1)?.ended?.status], [['two'], 'ok']);
  const refused = fixture.messages.find((message) => message.role === 'tool');
  assert.deepEqual([refused?.outcome, /cut off at the output limit/.test(refused?.output ?? '')], ['failed', true]);
});

test('while the store cannot be written, recording the end is retried every second', async () => {
  let refusals = 3;
  const fixture = runFixture({
    turns: [answerOf('hello')],
    onRecord(step) {
      if (step.ended && refusals-- > 0) throw new GatewayError('UNAVAILABLE', 'Cannot write to the disk');
    },
  });
  const ended = runToEnd(fixture.run);
  await until(() => refusals === 2);
  assert.equal(fixture.steps.at(-1)?.ended, undefined);
  await fixture.clock.advance(3_000);
  assert.equal(await ended, 'ended');
  assert.equal(fixture.steps.at(-1)?.ended?.status, 'ok');
});

test('a stopping daemon does not wait for a store that cannot be written, even after a cancel', async () => {
  const fixture = runFixture({
    turns: [endless],
    onRecord(step) {
      if (step.ended) throw new GatewayError('UNAVAILABLE', 'Cannot write to the disk');
    },
  });
  const ended = runToEnd(fixture.run);
  await until(() => has(fixture, 'content'));
  fixture.stop(CANCEL);
  await new Promise(setImmediate);
  fixture.stopping.abort(new Error('bye'));
  assert.deepEqual([await ended, fixture.log.lines], ['suspended', []]);
});

test('a question decided during the cancel is left out of the end', async () => {
  const outdated: Step[] = [];
  const fixture = runFixture({
    turns: [answerOf('', [ONE])],
    tools: { act: { needsApproval: true } },
    onRecord(step) {
      if (!step.settled) return;
      outdated.push(step);
      void fixture.answer();
      throw new StepOutdated('settled');
    },
  });
  const ended = runToEnd(fixture.run);
  await until(() => has(fixture, 'approve_request'));
  fixture.stop(CANCEL);
  assert.equal(await ended, 'ended');
  assert.deepEqual(
    [outdated.length, fixture.steps.at(-1)?.settled, fixture.steps.at(-1)?.ended?.status],
    [1, undefined, 'cancelled'],
  );
  assert.equal(has(fixture, 'approval_resolved'), false);
});

test('an end that is refused repeatedly is left to a restart', async () => {
  let refusals = 0;
  const fixture = runFixture({
    onRecord(step) {
      if (step.ended) throw new StepOutdated(`refusal ${++refusals}`);
    },
  });
  assert.deepEqual([await runToEnd(fixture.run), refusals], ['suspended', 5]);
  assert.deepEqual(fixture.log.lines, [
    ['error', 'the end of a run could not be recorded; the next start will record it'],
  ]);
});
