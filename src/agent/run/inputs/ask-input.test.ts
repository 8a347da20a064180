import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StopReason } from '../../stop-reason.ts';
import type { GivenInput } from '../../tools/person/asked-input.ts';
import type { ToolOutcome, ToolRun } from '../../tools/tool.ts';
import { runBatch } from '../batch.ts';
import type { JournalEntry } from '../journal.ts';
import { runToEnd } from '../run.ts';
import { answerOf, approvedBatch, callOf, runFixture } from '../run-fixture.ts';

const CALL = callOf('call-1', 'remote');
const asked = (text: string, more: { round?: number; resume?: string } = {}) => ({
  from: 'the tool server s asks',
  question: { text, choices: [] },
  round: 0,
  ...more,
});

/** A tool that asks these questions and returns the answers. */
const asking =
  (...questions: ReturnType<typeof asked>[]) =>
  async (run: ToolRun): Promise<ToolOutcome> => {
    const said: unknown[] = [run.inputs?.resumed];
    for (const question of questions) said.push(await run.inputs?.ask(question, run.signal));
    return { output: JSON.stringify(said), outcome: 'done' };
  };

const turns = [answerOf('', [CALL]), answerOf('done')];
const outputs = (it: ReturnType<typeof runFixture>) =>
  it.run.messages.flatMap((message) => (message.role === 'tool' ? [message.output] : []));
const started: JournalEntry = { kind: 'tool_started', callId: 'call-1', safeToRepeat: false };
const questionEntry = (it: ReturnType<typeof runFixture>): JournalEntry => {
  const entry = it.steps.flatMap(({ journal = [] }) => journal).find(({ kind }) => kind === 'approval_asked');
  assert.ok(entry);
  return entry;
};

test('a question of a running call is stored like an approval, and its answer returned', async () => {
  const it = runFixture({ turns, tools: { remote: { execute: asking(asked('Which port?')) } } });
  const ended = runToEnd(it.run);
  await it.answer({ answers: { 'call-1': { text: '8080' } } });
  assert.equal(await ended, 'ended');
  assert.deepEqual(outputs(it), ['[null,{"kind":"answered","answer":{"text":"8080"}}]']);
  const step = it.steps.find(({ approval }) => approval);
  assert.deepEqual(step?.approval?.items, [
    {
      call_id: 'call-1',
      header: 'remote: the tool server s asks',
      subject: 'the tool server s asks',
      preview: 'Which port?',
      ...{ func_name: 'remote', approval_label: 'remote', needs_approval: true, error: null },
      question: { text: 'Which port?', choices: [] },
    },
  ]);
});

test('a refusal, a deadline and a policy that answers for people are told apart from answers', async () => {
  const said = async (decision: object, policy?: { mode: 'deny' }): Promise<GivenInput> => {
    const it = runFixture({ turns, tools: { remote: { execute: asking(asked('x')) } }, ...(policy && { policy }) });
    const ended = runToEnd(it.run);
    if (!policy) await it.answer(decision);
    await ended;
    return JSON.parse(outputs(it)[0] ?? '')[1];
  };
  assert.deepEqual(await said({ approved: false }), { kind: 'denied' });
  assert.deepEqual(await said({ approved: false, by: { kind: 'timeout' } }), { kind: 'left' });
  assert.deepEqual(await said({}), { kind: 'answered', answer: {} });
  assert.deepEqual(await said({}, { mode: 'deny' }), { kind: 'left' });
});

test('auto-approve answers no question', async () => {
  const it = runFixture({ turns, autoApprove: true, tools: { remote: { execute: asking(asked('x')) } } });
  const ended = runToEnd(it.run);
  await it.answer({ answers: { 'call-1': { text: 'me' } } });
  await ended;
  assert.deepEqual(outputs(it), ['[null,{"kind":"answered","answer":{"text":"me"}}]']);
});

test('calls that run at the same time ask one after the other', async () => {
  const calls = [CALL, callOf('call-2', 'remote')];
  const it = runFixture({
    turns: [answerOf('', calls), answerOf('done')],
    tools: { remote: { execute: (run, call) => asking(asked(`by ${call.id}`))(run) } },
  });
  const ended = runToEnd(it.run);
  await it.answer({ answers: { 'call-1': { text: 'one' } } }, 'apr_1');
  await it.answer({ answers: { 'call-2': { text: 'two' } } }, 'apr_2');
  await ended;
  assert.deepEqual(outputs(it).sort(), [
    '[null,{"kind":"answered","answer":{"text":"one"}}]',
    '[null,{"kind":"answered","answer":{"text":"two"}}]',
  ]);
});

test('a call that runs again after a restart gets the answers from before, as long as it asks the same', async () => {
  const before = runFixture({ turns, tools: { remote: { execute: asking(asked('A?')) } } });
  const ended = runToEnd(before.run);
  await before.answer({ answers: { 'call-1': { text: 'a' } } });
  await ended;
  const entry = questionEntry(before);
  const decided: JournalEntry = {
    kind: 'approval_decided',
    approvalId: 'apr_1',
    decision: {
      approved: true,
      feedback: '',
      always: false,
      by: { kind: 'principal', id: 'p' },
      answers: { 'call-1': { text: 'a' } },
    },
  };
  const run = async (...questions: string[]) => {
    const execute = asking(...questions.map((text) => asked(text)));
    const journal = [...approvedBatch([CALL]), started, entry, decided];
    const it = runFixture({ journal, tools: { remote: { execute, safeToRepeat: true } }, turns: [] });
    it.run.progress.tools.set('call-1', { state: 'started', safeToRepeat: true });
    const batch = runBatch(it.run);
    if (questions.at(-1) !== 'A?' || questions.length > 1) await it.answer({ answers: { 'call-1': { text: 'new' } } });
    await batch;
    return JSON.parse(outputs(it)[0] ?? '')
      .slice(1)
      .map((one: { answer: { text: string } }) => one.answer.text);
  };
  assert.deepEqual(await run('A?'), ['a']);
  assert.deepEqual(await run('A?', 'A?'), ['a', 'new']);
  assert.deepEqual(await run('B?'), ['new']);
});

test('after a restart, a question that waits keeps its id if its answer is all that its call needs', async () => {
  const question = asked('A?', { resume: '{"state":1}' });
  const before = runFixture({ turns, tools: { remote: { execute: asking(question) } } });
  void runToEnd(before.run);
  while (before.steps.every(({ approval }) => !approval)) await new Promise(setImmediate);
  before.stop(new StopReason('shutdown', 'the daemon stops'));
  const journal = [...approvedBatch([CALL]), started, questionEntry(before)];
  const it = runFixture({ journal, tools: { remote: { execute: asking(question) } }, turns: [] });
  const batch = runBatch(it.run);
  await it.answer({ answers: { 'call-1': { text: 'a' } } });
  await batch;
  assert.deepEqual(outputs(it), ['[{"round":0,"resume":"{\\"state\\":1}"},{"kind":"answered","answer":{"text":"a"}}]']);
  assert.deepEqual(
    it.steps.flatMap(({ approval }) => approval ?? []),
    [],
  );
});

test('after a restart, a question whose call has to begin again is withdrawn, and a person decides about the call', async () => {
  const before = runFixture({ turns, tools: { remote: { execute: asking(asked('A?')) } } });
  void runToEnd(before.run);
  while (before.steps.every(({ approval }) => !approval)) await new Promise(setImmediate);
  before.stop(new StopReason('shutdown', 'the daemon stops'));
  const journal = [...approvedBatch([CALL]), started, questionEntry(before)];
  const it = runFixture({ journal, tools: { remote: { execute: asking(asked('A?')) } }, turns: [] });
  const batch = runBatch(it.run);
  while (it.steps.every(({ approval }) => approval?.kind !== 'outcome')) await new Promise(setImmediate);
  assert.deepEqual(
    it.run.progress.inputs.map(({ decision }) => decision?.by),
    [{ kind: 'cancel' }],
  );
  await it.answer({ approved: false });
  await batch;
  assert.match(outputs(it)[0] ?? '', /unknown/i);
});

test('after a restart, a question that waits is withdrawn if a person must first decide about another call of the batch', async () => {
  const other = callOf('call-2', 'remote');
  const question = asked('A?', { resume: '{"state":1}' });
  const before = runFixture({ turns, tools: { remote: { execute: asking(question) } } });
  void runToEnd(before.run);
  while (before.steps.every(({ approval }) => !approval)) await new Promise(setImmediate);
  before.stop(new StopReason('shutdown', 'the daemon stops'));
  const otherStarted: JournalEntry = { kind: 'tool_started', callId: 'call-2', safeToRepeat: false };
  const journal = [...approvedBatch([CALL, other]), started, otherStarted, questionEntry(before)];
  const it = runFixture({ journal, tools: { remote: { execute: asking(question) } }, turns: [] });
  const batch = runBatch(it.run);
  while (it.steps.every(({ approval }) => approval?.kind !== 'outcome')) await new Promise(setImmediate);
  assert.deepEqual(
    it.run.progress.inputs.map(({ decision }) => decision?.by),
    [{ kind: 'cancel' }],
  );
  const outcome = it.steps.flatMap(({ approval }) => approval ?? []).find(({ kind }) => kind === 'outcome');
  assert.deepEqual(Object.keys(outcome?.digests ?? {}), ['call-1', 'call-2']);
  await it.answer({ approved: false });
  await batch;
  assert.equal(outputs(it).filter((output) => /unknown/i.test(output)).length, 2);
});

test('a run that is stopped while it withdraws a question ends, and does not wait for its own end', async () => {
  const question = asked('A?', { resume: '{"state":1}' });
  const before = runFixture({ turns, tools: { remote: { execute: asking(question) } } });
  void runToEnd(before.run);
  while (before.steps.every(({ approval }) => !approval)) await new Promise(setImmediate);
  before.stop(new StopReason('shutdown', 'the daemon stops'));
  const other = callOf('call-2', 'remote');
  const otherStarted: JournalEntry = { kind: 'tool_started', callId: 'call-2', safeToRepeat: false };
  const journal = [...approvedBatch([CALL, other]), started, otherStarted, questionEntry(before)];
  const it = runFixture({ journal, tools: { remote: { execute: asking(question) } }, turns: [] });
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  it.run.withdraw = () => {
    it.stop(new StopReason('cancel', 'a client cancelled it'));
    return ended; // as the gateway does: the end of a run that is stopped settles its question
  };
  await runToEnd(it.run);
  resolve();
  assert.equal(it.run.progress.phase, 'ended');
});
