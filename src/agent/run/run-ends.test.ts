import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GatewayError } from '../../../protocol/errors.ts';
import { StopReason } from '../stop-reason.ts';
import type { JournalEntry } from './journal.ts';
import { type Step, StepOutdated } from './recorder.ts';
import { runToEnd } from './run.ts';
import { answerOf, askedBatch, callOf, endless, type FixtureOptions, has, runFixture, until } from './run-fixture.ts';

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

test('a run in a loop is ended', async () => {
  const fixture = runFixture({ turns: Array.from({ length: 300 }, (_, index) => answerOf('', [callOf(`c${index}`)])) });
  assert.equal(await runToEnd(fixture.run), 'ended');
  assert.deepEqual(
    [fixture.requests.length, fixture.steps.at(-1)?.ended?.error],
    [200, 'The run was ended after 200 model turns.'],
  );
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
