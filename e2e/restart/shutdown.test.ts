import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { commandLinesWith } from '../../src/testing/command-lines.ts';
import { type Conversation, openConversation, type Question } from '../support/clients/conversation.ts';
import { openSocket } from '../support/clients/open-socket.ts';
import { turnLines } from '../support/clients/story.ts';
import { speechOf } from '../support/daemon/ledger.ts';
import { openStage } from '../support/daemon/stage.ts';
import { callTools, say, stall } from '../support/model/scripted-steps.ts';

const { model, daemon } = await openStage();

const completed = ({ runId }: Question) => ({ runId, status: 'ok', summary: 'completed' });

/** Ends the daemon as a service manager does, and checks the shutdown event and the close code. */
async function terminate(): Promise<void> {
  const socket = await openSocket(daemon);
  const exit = await daemon.stop('SIGTERM');
  const closed = await socket.closed;
  const last = socket.events().at(-1);
  assert.deepEqual(
    { exit, closed, last: last?.type === 'event' && last.event },
    {
      exit: { code: 0, signal: null },
      closed: { code: 1012, reason: 'service restart' },
      last: 'shutdown',
    },
  );
}

async function startAgain(talk: Conversation): Promise<void> {
  await daemon.restart();
  await talk.reconnect();
}

async function askFor(talk: Conversation, message: string): Promise<Question> {
  const question = await talk.ask(message);
  question.answer.catch(() => undefined); // the daemon ends before it has one
  return question;
}

test('SIGTERM while the model answers: the request is repeated at the next start', async () => {
  await using talk = await openConversation(daemon);
  model.when('terminated in mid-answer', [say('half'), stall()]);
  const question = await askFor(talk, 'terminated in mid-answer');
  await talk.until('content');
  const upstream = model.requests.at(-1);
  await terminate();
  assert.deepEqual(await upstream?.closed, { whole: false });
  model.when('terminated in mid-answer', say('whole'));
  await startAgain(talk);
  assert.deepEqual(await talk.repeat(question), completed(question));
  assert.deepEqual(speechOf(await talk.agree()), ['user: terminated in mid-answer', 'assistant: whole']);
  assert.deepEqual(talk.story().slice(-9), [
    ...['content: half', 'stream_end interrupted'],
    ...turnLines('whole'),
    'state idle (ok)',
  ]);
});

test('SIGTERM during an answer does not count as a failed attempt, however often it happens', async () => {
  await using talk = await openConversation(daemon);
  model.when('terminated again and again', [say('half'), stall()]);
  const question = await askFor(talk, 'terminated again and again');
  await talk.until('content');
  for (let stops = 1; stops <= 4; stops++) {
    const asked = model.requests.length;
    await terminate();
    if (stops === 4) model.when('terminated again and again', say('whole'));
    await startAgain(talk);
    await model.request(asked);
  }
  assert.deepEqual(await talk.repeat(question), completed(question));
  assert.deepEqual(speechOf(await talk.agree()), ['user: terminated again and again', 'assistant: whole']);
});

test('SIGTERM during a pending approval: the approval is still pending after the next start', async () => {
  await using talk = await openConversation(daemon);
  model.when(
    'terminated in doubt',
    callTools({ name: 'bash', arguments: { command: 'echo hi | tee hi' } }),
    say('done'),
  );
  const question = await askFor(talk, 'terminated in doubt');
  const { approval_id: approvalId } = await talk.until('approve_request');
  await terminate();
  await startAgain(talk);
  assert.deepEqual(
    (await talk.pending()).map((pending) => pending.approvalId),
    [approvalId],
  );
  await talk.decide(approvalId, { approved: true });
  assert.deepEqual(await talk.repeat(question), completed(question));
  const { approvals } = await talk.agree();
  assert.deepEqual(
    approvals.map(({ status }) => status),
    ['approved'],
  );
});

test('SIGTERM while a tool runs: the tool is stopped and recorded as stopped, and the model learns of it at the next start', async () => {
  await using talk = await openConversation(daemon);
  const nap = `60.${process.pid}`;
  const command = `touch it; echo up; sleep ${nap}`;
  model.when('terminated at work', callTools({ name: 'bash', arguments: { command } }), say('I see'));
  const question = await askFor(talk, 'terminated at work');
  await talk.decide((await talk.until('approve_request')).approval_id, { approved: true });
  await talk.until('tool_output_chunk');
  await terminate();
  assert.deepEqual(await commandLinesWith(nap), []);
  await startAgain(talk);
  assert.deepEqual(await talk.repeat(question), completed(question));
  assert.deepEqual(speechOf(await talk.agree()), [
    'user: terminated at work',
    'assistant: ',
    'tool: up\n[stopped by shutdown]',
    'assistant: I see',
  ]);
  assert.deepEqual(talk.story().slice(-9), [
    ...['output of call_0: up\n', 'bash fails: up\n[stopped by shutdown]'],
    ...turnLines('I see'),
    'state idle (ok)',
  ]);
});

test('SIGTERM at work: sockets and commands end first, then the store, then the lock of the home', async () => {
  const entry = new URL('../support/fixtures/closing-daemon.ts', import.meta.url);
  const log = path.join(daemon.home, 'closing.log');
  await daemon.restart({ entry, env: { CLOSING_LOG: log } });
  await using answering = await openConversation(daemon);
  await using working = await openConversation(daemon);
  model.when('end in mid-answer', [say('half'), stall()]);
  model.when('end at work', callTools({ name: 'bash', arguments: { command: 'echo up | tee up; sleep 60' } }));
  await askFor(answering, 'end in mid-answer');
  await answering.until('content');
  await askFor(working, 'end at work');
  await working.decide((await working.until('approve_request')).approval_id, { approved: true });
  await working.until('tool_output_chunk');
  await terminate();
  assert.deepEqual((await readFile(log, 'utf8')).trim().split('\n'), [
    'store closes, locked, open: nothing',
    'store closed, locked',
    'exit, unlocked',
  ]);
  await daemon.restart();
});
