import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JournalEntry } from '../journal.ts';
import { runToEnd } from '../run.ts';
import { answerOf, callOf, type FixtureOptions, runFixture, type Turn, until } from '../run-fixture.ts';

/** A model that makes the same call again and again. */
const loop = (count: number): Turn[] =>
  Array.from({ length: count }, (_, index) => answerOf('', [callOf(`c${index}`, 'act', '{"a":1}')]));

function looping(options: FixtureOptions = {}) {
  const ran: string[] = [];
  const execute = (_: unknown, { id }: { id: string }) => {
    ran.push(id);
    return { output: 'same', outcome: 'done' as const };
  };
  const { needsApproval = false, ...act } = options.tools?.act ?? {};
  const tools = { act: { execute, readOnly: true, needsApproval, ...act } };
  const fixture = runFixture({ turns: loop(200), ...options, tools });
  return { ...fixture, ran, results: () => fixture.messages.filter((message) => message.role === 'tool') };
}

test('an unattended run that repeats a call ends after a few turns', async () => {
  const fixture = looping({ policy: { mode: 'allow', tools: ['act'] } });
  assert.equal(await runToEnd(fixture.run), 'ended');
  assert.deepEqual([fixture.ran, fixture.requests.length], [['c0', 'c1'], 8]);
  assert.deepEqual(
    fixture.results().map(({ outcome }) => outcome),
    ['done', 'done', 'blocked', 'blocked', 'blocked', 'blocked', 'blocked', 'cancelled'],
  );
  const [, , first, second] = fixture.results();
  assert.match(
    first?.output ?? '',
    /already made the same call 2 times, with the same result\..* a person is then asked/,
  );
  assert.match(second?.output ?? '', /nobody is there to allow another one/);
  assert.deepEqual([fixture.steps.at(-1)?.ended?.status, fixture.steps.at(-1)?.ended?.limit], ['error', 'repeats']);
  assert.match(fixture.results()[6]?.notice ?? '', /only repeats calls, so it ends/);
});

test('the next repetition asks a person and says why; after a denial it is refused without a question', async () => {
  const fixture = looping({ turns: [...loop(6), answerOf('done')] });
  const ended = runToEnd(fixture.run);
  await fixture.answer({ approved: false, feedback: 'enough' });
  await ended;
  const questions = fixture.events.filter((event) => event.type === 'approve_request');
  assert.deepEqual(
    questions.map(({ kind, items }) => [kind, items.map(({ repeated, needs_approval }) => [repeated, needs_approval])]),
    [['tools', [[2, true]]]],
  );
  assert.deepEqual(
    [fixture.ran, fixture.results().map(({ outcome }) => outcome), fixture.steps.at(-1)?.ended?.status],
    [['c0', 'c1'], ['done', 'done', 'blocked', 'denied', 'denied', 'denied'], 'ok'],
  );
});

test('an allowed repetition runs, and another one asks again', async () => {
  const fixture = looping({ turns: [...loop(5), answerOf('done')] });
  const ended = runToEnd(fixture.run);
  await fixture.answer();
  await fixture.answer({ approved: false }, 'apr_2');
  await ended;
  assert.deepEqual(
    [fixture.ran, fixture.results().map(({ outcome }) => outcome)],
    [
      ['c0', 'c1', 'c3'],
      ['done', 'done', 'blocked', 'done', 'denied'],
    ],
  );
});

test('with auto-approve, a watching person is asked; without one the call is refused', async () => {
  const alone = looping({ turns: [...loop(4), answerOf('done')], autoApprove: true });
  await runToEnd(alone.run);
  assert.deepEqual(
    alone.results().map(({ outcome }) => outcome),
    ['done', 'done', 'blocked', 'blocked'],
  );
  const watched = looping({ turns: [...loop(4), answerOf('done')], autoApprove: true, isWatched: true });
  const ended = runToEnd(watched.run);
  await watched.answer();
  await ended;
  assert.deepEqual(watched.ran, ['c0', 'c1', 'c3']);
});

test('a denied call is asked about once, however often it is repeated', async () => {
  const fixture = looping({ turns: loop(30), tools: { act: { needsApproval: true } } });
  const ended = runToEnd(fixture.run);
  await fixture.answer({ approved: false, feedback: 'no' });
  await ended;
  const outcomes = fixture.results().map(({ outcome, output }) => [outcome, output.split(':')[0]]);
  assert.equal(fixture.events.filter(({ type }) => type === 'approve_request').length, 1);
  assert.deepEqual(outcomes.slice(0, 3), Array(3).fill(['denied', 'Denied by user']));
  assert.match(fixture.results()[1]?.output ?? '', /denied earlier in this run, so nobody is asked again/);
});

test('a harmless call of a denied batch may be made again', async () => {
  const both = [callOf('a', 'act'), callOf('b', 'look')];
  const fixture = runFixture({
    turns: [answerOf('', both), answerOf('', [callOf('c', 'look')]), answerOf('done')],
    tools: { act: { needsApproval: true } },
  });
  const ended = runToEnd(fixture.run);
  await fixture.answer({ approved: false });
  await ended;
  const last = fixture.messages.findLast((message) => message.role === 'tool');
  assert.deepEqual([last?.callId, last?.outcome], ['c', 'done']);
});

test('parallel calls of one batch count, too', async () => {
  const calls = Array.from({ length: 10 }, (_, index) => callOf(`c${index}`));
  const fixture = looping({ turns: [answerOf('', calls), answerOf('done')] });
  await runToEnd(fixture.run);
  assert.deepEqual(fixture.ran, ['c0', 'c1']);
  assert.deepEqual(
    fixture.results().map(({ outcome }) => outcome),
    ['done', 'done', ...Array(8).fill('blocked')],
  );
});

test('parallel calls with different results all run', async () => {
  let count = 0;
  const calls = Array.from({ length: 10 }, (_, index) => callOf(`c${index}`));
  const fixture = looping({
    turns: [answerOf('', calls), answerOf('done')],
    tools: { act: { execute: () => ({ output: `${count++}`, outcome: 'done' }) } },
  });
  await runToEnd(fixture.run);
  assert.equal(count, 10);
});

test('a call that nobody allows counts as repeated, too', async () => {
  const fixture = looping({ policy: { mode: 'deny' }, tools: { act: { needsApproval: true } } });
  await runToEnd(fixture.run);
  assert.deepEqual([fixture.ran, fixture.requests.length], [[], 8]);
});

test('after a restart the count continues where it was', async () => {
  const before = looping({ turns: [...loop(2), answerOf('done')] });
  await runToEnd(before.run);
  const journal: JournalEntry[] = [{ kind: 'started' }, ...before.journal.slice(0, -3)];
  const after = looping({ journal, turns: [...loop(1), answerOf('done')] });
  await runToEnd(after.run);
  assert.deepEqual([after.ran, after.results().map(({ outcome }) => outcome)], [[], ['blocked']]);
});

test('a restart during the question about a repetition asks nothing new', async () => {
  const before = looping({ turns: loop(4) });
  void runToEnd(before.run);
  await until(() => before.events.some(({ type }) => type === 'approve_request'));
  const after = looping({ journal: [{ kind: 'started' }, ...before.journal], turns: [answerOf('done')] });
  const ended = runToEnd(after.run);
  await after.answer({}, 'apr_1');
  await ended;
  assert.deepEqual([after.ran, after.events.some(({ type }) => type === 'approve_request')], [['c3'], false]);
});
