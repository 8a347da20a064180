import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { type Conversation, openConversation, type Question } from '../support/clients/conversation.ts';
import { storyOf, turnLines } from '../support/clients/story.ts';
import { readLedger, speechOf } from '../support/daemon/ledger.ts';
import { openStage } from '../support/daemon/stage.ts';
import { callTools, say, stall } from '../support/model/scripted-steps.ts';

const { model, daemon } = await openStage();

/** Kills and restarts the process, and waits until all clients have reconnected. */
async function killAndRestart(...conversations: Conversation[]): Promise<void> {
  await daemon.kill9();
  await daemon.restart();
  for (const conversation of conversations) await conversation.reconnect();
}

const completed = ({ runId }: Question) => ({ runId, status: 'ok', summary: 'completed' });
const lost = { name: 'ConnectionLostError' };

test('killed while idle: everything is unchanged, and the conversation continues', async () => {
  await using talk = await openConversation(daemon);
  model.when('idle first', say('first answer'));
  const first = await talk.ask('idle first');
  assert.deepEqual(await first.answer, completed(first));
  const before = await talk.agree();
  const asked = model.requests.length;
  await killAndRestart(talk);
  assert.deepEqual(await talk.agree(), before);
  assert.deepEqual(await talk.repeat(first), completed(first));
  assert.equal(model.requests.length, asked);
  model.when('idle second', say('second answer'));
  const second = await talk.ask('idle second');
  await talk.ended(second);
  const ledger = await talk.agree();
  assert.deepEqual(speechOf(ledger), [
    'user: idle first',
    'assistant: first answer',
    'user: idle second',
    'assistant: second answer',
  ]);
  const { body } = await model.request(asked);
  assert.deepEqual(
    body.messages.slice(1).map(({ content }) => content),
    ['idle first', 'first answer', 'idle second'],
  );
});

test('A message that was answered `ok` must survive a kill of the daemon', async () => {
  await using talk = await openConversation(daemon);
  model.when('just accepted', stall());
  const { body } = await daemon.post('/v1/api/send', { ws_id: talk.wsId, message: 'just accepted' });
  const killed = daemon.kill9();
  assert.equal(body.status, 'ok');
  await killed;
  model.when('just accepted', say('answered after all'));
  await daemon.restart();
  await talk.reconnect();
  await talk.ended({ runId: body.run_id });
  const ledger = await talk.agree();
  assert.deepEqual(speechOf(ledger), ['user: just accepted', 'assistant: answered after all']);
  assert.deepEqual(
    ledger.runs.map(({ run }) => [run.run_id, run.status]),
    [[body.run_id, 'ok']],
  );
  assert.deepEqual(talk.story().slice(-7), [...turnLines('answered after all'), 'state idle (ok)']);
});

test('After a kill during an answer, `stream_end` with `interrupted: true` must void the partial text before the answer is requested again', async () => {
  await using talk = await openConversation(daemon);
  model.when('in mid-answer', [say('half an ', 'answer'), stall()]);
  const question = await talk.ask('in mid-answer');
  await talk.until('content', ({ text }) => text.endsWith('answer'));
  await Promise.all([assert.rejects(question.answer, lost), daemon.kill9()]);
  model.when('in mid-answer', say('the whole answer'));
  await daemon.restart();
  await talk.reconnect();
  assert.deepEqual(await talk.repeat(question), completed(question));
  const ledger = await talk.agree();
  assert.deepEqual(talk.story(), [
    'agent: in mid-answer',
    ...['thinking_start', 'state thinking', 'thinking_stop', 'content: half an answer', 'stream_end interrupted'],
    ...turnLines('the whole answer'),
    'state idle (ok)',
  ]);
  assert.deepEqual(speechOf(ledger), ['user: in mid-answer', 'assistant: the whole answer']);
});

test('after two kills during one answer it is requested again; after the third the run ends with an error', async () => {
  await using talk = await openConversation(daemon);
  model.when('killed often', [say('half'), stall()]);
  const question = await talk.ask('killed often');
  question.answer.catch(() => undefined); // the connection is lost
  for (let kill = 1; kill <= 3; kill += 1) {
    const halves = () => talk.story().filter((line) => line === 'content: half').length;
    await talk.until('content', () => halves() === kill);
    await killAndRestart(talk);
  }
  await talk.ended(question);
  const message = 'The answer was interrupted three times by crashes of the daemon. Send the message again.';
  await assert.rejects(talk.repeat(question), {
    code: 'UNAVAILABLE',
    message,
    payload: { runId: question.runId, status: 'error', summary: message },
  });
  await talk.agree();
  const cutOff = ['thinking_start', 'state thinking', 'thinking_stop', 'content: half', 'stream_end interrupted'];
  assert.deepEqual(talk.story(), [
    'agent: killed often',
    ...[...cutOff, ...cutOff, ...cutOff],
    ...[`error: Error: ${message}`, 'stream_end', 'state error (error)'],
  ]);
});

test('killed with queued messages: each is answered once, in the order of arrival', async () => {
  await using talk = await openConversation(daemon);
  model.when('queued', stall());
  const questions: Question[] = [];
  for (const message of ['queued 1', 'queued 2', 'queued 3']) questions.push(await talk.ask(message));
  for (const { answer } of questions) answer.catch(() => undefined); // the connection is lost
  await daemon.kill9();
  for (const n of [1, 2, 3]) model.when(`queued ${n}`, say(`answer ${n}`));
  await daemon.restart();
  await talk.reconnect();
  const answers = await Promise.all(questions.map((question) => talk.repeat(question)));
  assert.deepEqual(answers, questions.map(completed));
  const ledger = await talk.agree();
  assert.deepEqual(
    speechOf(ledger),
    [1, 2, 3].flatMap((n) => [`user: queued ${n}`, `assistant: answer ${n}`]),
  );
  assert.deepEqual(
    ledger.runs.map(({ run }) => run.status),
    ['ok', 'ok', 'ok'],
  );
});

test('killed during a cancel: an unanswered cancel had no effect, and a second cancel ends the run', async () => {
  await using talk = await openConversation(daemon);
  // `wait` lets the trap run at once; bash would delay it until the end of a foreground program.
  const stubborn = "touch it; trap 'echo asked to stop' TERM; echo up; sleep 60 & wait; sleep 60";
  model.when('stubborn', callTools({ name: 'bash', arguments: { command: stubborn } }));
  const question = await talk.ask('stubborn');
  question.answer.catch(() => undefined); // the connection is lost
  await talk.decide((await talk.until('approve_request')).approval_id, { approved: true });
  await talk.until('tool_output_chunk', ({ chunk }) => chunk.includes('up'));
  const cancelling = talk.client.call('workstream.cancel', { wsId: talk.wsId });
  cancelling.catch(() => undefined); // the connection is lost
  await talk.until('tool_output_chunk', ({ chunk }) => chunk.includes('asked to stop'));
  await killAndRestart(talk);
  const { approval_id: approvalId, items } = await talk.until('approve_request', ({ kind }) => kind === 'outcome');
  const receipt = await talk.client.call('workstream.cancel', { wsId: talk.wsId });
  assert.deepEqual(receipt.dropped, {
    wasRunning: true,
    pendingApproval: { approvalId, toolNames: ['bash'], callId: items[0]?.call_id },
    stoppedTools: ['bash'],
    queuedMessages: { count: 0, firstPreview: null },
  });
  await assert.rejects(talk.repeat(question), { code: 'CONFLICT', message: 'The run was cancelled' });
  const { approvals } = await talk.agree();
  assert.deepEqual(
    approvals.map(({ kind, status }) => [kind, status]),
    [
      ['tools', 'approved'],
      ['outcome', 'cancelled'],
    ],
  );
});

test('killed right after the answer to a cancel: the run stays cancelled', async () => {
  await using talk = await openConversation(daemon);
  model.when('cancelled', [say('half'), stall()]);
  const question = await talk.ask('cancelled');
  question.answer.catch(() => undefined); // cancelled
  await talk.until('content');
  await talk.client.call('workstream.cancel', { wsId: talk.wsId });
  const asked = model.requests.length;
  await killAndRestart(talk);
  await assert.rejects(talk.repeat(question), { code: 'CONFLICT', message: 'The run was cancelled' });
  const ledger = await talk.agree();
  assert.deepEqual(speechOf(ledger), ['user: cancelled', 'assistant: half']);
  assert.deepEqual(talk.story().slice(-3), ['cancelled', 'stream_end', 'state idle (cancelled)']);
  assert.equal(model.requests.length, asked);
});

test('Every event that a client has received must still be in the log after the daemon was killed', async () => {
  await using talk = await openConversation(daemon);
  const words = Array.from({ length: 3_000 }, (_, n) => `${n} `);
  model.when('a flood', [say(...words), stall()]);
  const question = await talk.ask('a flood');
  await talk.until('content');
  await Promise.all([assert.rejects(question.answer, lost), daemon.kill9()]);
  const { events } = readLedger(daemon.home, talk.wsId);
  const last = talk.seen.at(-1)?.offset ?? 0;
  const held = events.filter(({ offset }) => offset <= last).map(({ event }) => event);
  assert.deepEqual(talk.story(), storyOf(held));
  model.when('a flood', say('dry land'));
  await daemon.restart();
  await talk.reconnect();
  assert.deepEqual(await talk.repeat(question), completed(question));
  await talk.agree();
});

const PLAN = [
  ...['## Goal', 'Move the port into the configuration, so that two servers can run.'],
  ...['## Current State', 'server.ts has the number.', '## Plan', '1. Add it to config.ts', '2. Read it'],
  ...['## Risks', 'Scripts that know the number.'],
].join('\n');

test('A plan must survive a kill, and a stream that opens while it waits must contain its `plan_review`', async () => {
  await using talk = await openConversation(daemon);
  const goal = 'GOAL: the port survives';
  model.when('plan first', callTools({ name: 'plan_agent', arguments: { goal } }), say('done'));
  const exploring = stall();
  model.when(goal, [exploring, say('never')]);
  const question = await talk.ask('plan first');
  question.answer.catch(() => undefined); // the connection will be lost
  const { approval_id: approvalId } = await talk.until('approve_request');
  const call = (feedback: string) => talk.client.call('plan.resolve', { wsId: talk.wsId, feedback });
  await talk.decide(approvalId, { approved: true });
  await exploring.reached;
  model.when(goal, callTools({ name: 'list_directory', arguments: { path: '.' } }), say(PLAN));
  await killAndRestart(talk); // while it explores: it begins anew
  const first = await talk.until('approve_request', ({ kind }) => kind === 'plan');
  await killAndRestart(talk); // while it waits: it keeps its id
  await using stream = await daemon.sse(talk.wsId);
  const { data: review } = await stream.until('plan_review');
  assert.deepEqual([review.approval_id, review.content], [first.approval_id, PLAN]);
  const revising = stall();
  model.when('says:\nsmaller', [revising, say('never')]);
  assert.equal((await call('smaller')).outcome, 'revised');
  await revising.reached;
  model.when('says:\nsmaller', say(`${PLAN}\nSmaller.`));
  await killAndRestart(talk); // while it is revised: from the plan and the words
  const second = await talk.until('approve_request', ({ items }) => items[0]?.plan?.round === 2);
  assert.equal((await call('')).approvalId, second.approval_id);
  assert.deepEqual(await talk.repeat(question), completed(question));
  await assert.rejects(
    talk.client.call('plan.resolve', { wsId: talk.wsId, feedback: '', approvalId: second.approval_id }),
    { code: 'CONFLICT' },
  );
  const { approvals } = await talk.agree();
  assert.deepEqual(
    approvals.map(({ kind, status }) => [kind, status]),
    [
      ['tools', 'approved'],
      ['plan', 'denied'],
      ['plan', 'approved'],
    ],
  );
});

test('a planner reads, but changes and starts nothing, even in the mode full', async () => {
  await using talk = await openConversation(daemon);
  await talk.client.call('workstream.update', { wsId: talk.wsId, mode: 'full' });
  const goal = 'GOAL: look around';
  const bash = (command: string, more = {}) => ({ name: 'bash', arguments: { command, ...more } });
  model.when('look before', callTools({ name: 'plan_agent', arguments: { goal } }), say('done'));
  model.when(
    goal,
    callTools(
      { name: 'list_directory', arguments: { path: '.' } },
      { name: 'write_file', arguments: { path: 'planned.txt', content: 'x' } },
      bash('touch planned.txt'),
      bash('sleep 99', { run_in_background: true }),
      bash('curl -s http://127.0.0.1:1/'),
      { name: 'ask_user', arguments: { question: 'Which one?' } },
      { name: 'plan_agent', arguments: { goal: 'another' } },
    ),
    say(PLAN),
  );
  const question = await talk.ask('look before');
  const { approval_id: approvalId } = await talk.until('approve_request', ({ kind }) => kind === 'plan');
  const heard = model.requests.at(-1)?.body.messages.flatMap(({ role, content }) => (role === 'tool' ? [content] : []));
  assert.deepEqual(
    heard?.map((output) => /^Not run: |^Blocked/.test(String(output))),
    [false, true, true, true, true, true, true],
    JSON.stringify(heard),
  );
  assert.equal(existsSync(path.join(daemon.home, 'workspace', 'planned.txt')), false);
  assert.deepEqual((await talk.client.call('background.list', { wsId: talk.wsId })).commands, []);
  await talk.decide(approvalId, { approved: false });
  await talk.ended(question);
  const { output = '' } = await talk.until('tool_result');
  assert.match(output, /^The person rejected the plan\n/);
  await talk.agree();
});
