import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { type Conversation, openConversation } from '../support/clients/conversation.ts';
import { readLedger } from '../support/daemon/ledger.ts';
import { openStage } from '../support/daemon/stage.ts';
import type { Answer, ChatRequest } from '../support/model/scripted-model.ts';
import { callTools, type Step, say, stall } from '../support/model/scripted-steps.ts';

const { model, daemon } = await openStage();

/** The model's next answer in the conversation that begins with this message; `turn` counts its answers so far. */
const answers = new Map<string, (turn: number) => Answer>();
model.onRequest(({ messages }) => {
  const answer = answers.get(String(messages.find(({ role }) => role === 'user')?.content));
  return answer?.(messages.filter(({ role }) => role === 'assistant').length);
});

const workspace = path.join(daemon.home, 'workspace');
await mkdir(workspace, { recursive: true });
await writeFile(path.join(workspace, 'same.txt'), 'always the same');

/** The same call, its arguments written differently each time. */
const look = (turn: number): Step =>
  callTools({
    name: 'read_file',
    arguments: turn % 2 === 0 ? '{"path": "same.txt", "offset": 1}' : '{"offset":1,"path":"same.txt"}',
  });
const bash = (command: string): Step => callTools({ name: 'bash', arguments: { command } });

const requestsOf = (message: string): ChatRequest[] =>
  model.requests
    .map(({ body }) => body)
    .filter(({ messages }) => messages.find(({ role }) => role === 'user')?.content === message);

const outcomesOf = ({ wsId }: Conversation): string[] =>
  readLedger(daemon.home, wsId).messages.flatMap((message) => (message.role === 'tool' ? [message.outcome] : []));

/** How the run ended, from the event that names it. */
async function endOf(talk: Conversation, runId: string) {
  const { run, state } = await talk.until('ws_state', (event) => event.run?.run_id === runId);
  return { state, status: run?.status, limit: run?.limit };
}

/** Asks, and ignores how the call ends: the log has the result. */
async function ask(talk: Conversation, message: string): Promise<string> {
  const { runId, answer } = await talk.ask(message);
  answer.catch(() => undefined);
  return runId;
}

test('a model that would make the same call 200 times is stopped after a few', async () => {
  await using talk = await openConversation(daemon);
  answers.set('go round', look);
  const runId = await ask(talk, 'go round');
  const question = await talk.until('approve_request');
  assert.deepEqual(
    question.items.map(({ func_name, repeated, needs_approval }) => [func_name, repeated, needs_approval]),
    [['read_file', 2, true]],
  );
  await talk.decide(question.approval_id, { approved: false });
  assert.deepEqual(await endOf(talk, runId), { state: 'error', status: 'error', limit: 'repeats' });
  await talk.agree();
  assert.deepEqual(outcomesOf(talk), ['done', 'done', 'blocked', ...Array(6).fill('denied'), 'cancelled']);
  assert.equal(talk.seen.filter(({ event }) => event.type === 'approve_request').length, 1);

  const requests = requestsOf('go round');
  assert.equal(requests.length, 10);
  for (const [index, { messages, tools }] of requests.entries()) {
    const before = requests[index - 1] ?? { messages: [], tools };
    assert.deepEqual(messages.slice(0, before.messages.length), before.messages, 'each request extends the last one');
    assert.deepEqual(tools, before.tools);
  }
  assert.match(String(requests.at(-1)?.messages.at(-1)?.content), /\[Headgate: .*Your next answer is the last one/);
});

test('a denied call that is repeated 30 times is asked about once', async () => {
  await using talk = await openConversation(daemon);
  answers.set('please', (turn) => (turn < 30 ? bash('touch denied.txt') : say('I give up.')));
  const runId = await ask(talk, 'please');
  const { approval_id: approvalId } = await talk.until('approve_request');
  await talk.decide(approvalId, { approved: false, feedback: 'no' });
  await endOf(talk, runId);
  await talk.agree();
  assert.equal(talk.seen.filter(({ event }) => event.type === 'approve_request').length, 1);
  const outcomes = outcomesOf(talk);
  assert.deepEqual([...new Set(outcomes.slice(0, -1))], ['denied']);
  assert.match(String(requestsOf('please')[2]?.messages.at(-1)?.content), /denied earlier in this run/);
});

test('a failing command that is always allowed runs twice, not fifty times', async () => {
  await using talk = await openConversation(daemon);
  answers.set('try hard', (turn) => (turn < 50 ? bash('touch it; exit 3') : say('It works.')));
  const runId = await ask(talk, 'try hard');
  const { approval_id: first } = await talk.until('approve_request');
  await talk.decide(first, { approved: true, always: true });
  const { approval_id: second } = await talk.until('approve_request', ({ approval_id }) => approval_id !== first);
  await talk.decide(second, { approved: false });
  await endOf(talk, runId);
  await talk.agree();
  assert.equal(outcomesOf(talk).filter((outcome) => outcome === 'failed').length, 2);
});

test('commands that alternate are stopped, too', async () => {
  await using talk = await openConversation(daemon);
  answers.set('to and fro', (turn) => (turn < 60 ? bash(`echo ${turn % 2} | tee it`) : say('It works.')));
  const runId = await ask(talk, 'to and fro');
  const { approval_id: first } = await talk.until('approve_request');
  await talk.decide(first, { approved: true, always: true });
  const repeated = await talk.until('approve_request', ({ approval_id }) => approval_id !== first);
  assert.deepEqual(
    repeated.items.map((item) => item.repeated),
    [2],
  );
  await talk.decide(repeated.approval_id, { approved: false });
  const last = await talk.until(
    'approve_request',
    (event) => ![first, repeated.approval_id].includes(event.approval_id),
  );
  await talk.decide(last.approval_id, { approved: false });
  assert.deepEqual(await endOf(talk, runId), { state: 'error', status: 'error', limit: 'repeats' });
  await talk.agree();
  assert.equal(outcomesOf(talk).filter((outcome) => outcome === 'done').length, 5);
});

test('polling goes on as long as the results differ', async () => {
  await using talk = await openConversation(daemon);
  const read = callTools({ name: 'read_file', arguments: { path: 'progress.txt' } });
  answers.set('wait for it', (turn) => {
    const write = { run: () => writeFile(path.join(workspace, 'progress.txt'), `${turn} of 12`) };
    return turn < 12 ? [write, read] : say('Ready.');
  });
  await (await talk.ask('wait for it')).answer;
  await talk.agree();
  assert.deepEqual(outcomesOf(talk), Array(12).fill('done'));
});

test('a test that fails in the same way runs again after each edit', async () => {
  await using talk = await openConversation(daemon, { autoApprove: true });
  answers.set('fix it', (turn) => {
    if (turn === 8) return say('Fixed.');
    return turn % 2 === 0 ? bash('echo 1 failed; exit 1') : bash(`echo edit ${turn} > edited.txt`);
  });
  await (await talk.ask('fix it')).answer;
  await talk.agree();
  assert.deepEqual(outcomesOf(talk), Array(4).fill(['failed', 'done']).flat());
});

test('a restart in the middle of a loop keeps the count', async () => {
  await using talk = await openConversation(daemon);
  const hold = stall();
  let isHeld = false;
  answers.set('round again', (turn) => {
    if (turn < 2) return look(turn);
    if (!isHeld) {
      isHeld = true;
      return [hold, look(turn)];
    }
    return turn === 2 ? look(turn) : say('I stop.');
  });
  const runId = await ask(talk, 'round again');
  await hold.reached;
  await daemon.kill9();
  await daemon.restart();
  await talk.reconnect();
  assert.equal((await endOf(talk, runId)).status, 'ok');
  await talk.agree();
  assert.deepEqual(outcomesOf(talk), ['done', 'done', 'blocked']);
});

test('an unattended job that goes in circles ends with an error, without a question', async () => {
  const client = await daemon.client();
  const message = 'all day long';
  const { id } = await client.call('cron.add', {
    schedule: { kind: 'every', everyMs: 3_600_000 },
    sessionTarget: 'isolated',
    wakeMode: 'next-heartbeat',
    payload: { kind: 'agentTurn', message },
    name: 'Circles',
  });
  answers.set(`[cron:${id} Circles] ${message}`, look);
  const finished = Promise.withResolvers<void>();
  client.on('cron', ({ action, jobId }) => {
    if (action === 'finished' && jobId === id) finished.resolve();
  });
  await client.call('cron.run', { id, mode: 'force' });
  await finished.promise;
  const { entries } = await client.call('cron.runs', { id, extended: true });
  const last = entries.at(-1);
  assert.deepEqual(
    [last?.status, last?.error],
    ['error', 'The run was ended because the model kept repeating calls that no longer run (5 turns in a row).'],
  );
  assert.equal(requestsOf(`[cron:${id} Circles] ${message}`).length, 8);
});
