import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import type { CallDecisions } from '../../protocol/methods/approval.ts';
import { commandLinesWith } from '../../src/testing/command-lines.ts';
import { type Conversation, openConversation, type Question } from '../support/clients/conversation.ts';
import { turnLines } from '../support/clients/story.ts';
import { openStage } from '../support/daemon/stage.ts';
import { callTools, say } from '../support/model/scripted-steps.ts';

const { model, daemon } = await openStage();

/** A composition of the daemon that is killed right after the first commit with this journal entry. */
const dyingAfter = (kind: string) => ({
  entry: new URL('../support/fixtures/dying-daemon.ts', import.meta.url),
  env: { DIE_AFTER: kind },
});
const UNSANDBOXED = new URL('../support/daemon/unsandboxed-daemon.ts', import.meta.url);

const workFile = (name: string) => path.join(daemon.home, 'workspace', name);
const linesOf = async (name: string) =>
  (await readFile(workFile(name), 'utf8').catch(() => '')).split('\n').slice(0, -1);
const completed = ({ runId }: Question) => ({ runId, status: 'ok', summary: 'completed' });
const bash = (command: string) => callTools({ name: 'bash', arguments: { command } });

/** Lets the agent make one tool call, and waits for the approval request. */
async function askFor(talk: Conversation, message: string) {
  const question = await talk.ask(message);
  question.answer.catch(() => undefined); // the connection will be lost
  const { approval_id: approvalId, items } = await talk.until('approve_request');
  return { question, approvalId, items };
}

async function restart(...conversations: Conversation[]): Promise<void> {
  await daemon.restart();
  for (const conversation of conversations) await conversation.reconnect();
}

/** The first events of a turn with one bash command. */
const asked = (message: string) => [`agent: ${message}`, ...turnLines(''), 'asks tools bash', 'state attention'];

test('A pending approval must survive a kill of the daemon under the same id and stay answerable', async () => {
  await using talk = await openConversation(daemon);
  model.when('survives', bash('echo ran >> survives.txt'), say('done'));
  const { question, approvalId, items } = await askFor(talk, 'survives');
  const [before] = await talk.pending();
  await daemon.kill9();
  await restart(talk);
  const [pending, ...others] = await talk.pending();
  assert.deepEqual({ ...pending, expiresAtMs: 0 }, { ...before, expiresAtMs: 0 });
  assert.deepEqual({ others, id: pending?.approvalId, items: pending?.items }, { others: [], id: approvalId, items });
  await talk.agree();
  await talk.decide(approvalId, { approved: true });
  assert.deepEqual(await talk.repeat(question), completed(question));
  await assert.rejects(talk.decide(approvalId, { approved: false }), { code: 'CONFLICT' });
  await talk.agree();
  assert.deepEqual(await linesOf('survives.txt'), ['ran']);
  assert.deepEqual(talk.story(), [
    ...asked('survives'),
    ...['approved', 'state running', 'bash answers: [no output]'],
    ...turnLines('done'),
    'state idle (ok)',
  ]);
});

const QUESTION = { question: 'Which port?', choices: [{ label: '80' }, { label: '443', description: 'TLS' }] };

test('A question of the agent must survive a kill, must not be answered by auto-approve, and must bring its answer as data', async () => {
  await using talk = await openConversation(daemon);
  const callsOf = (...args: object[]) =>
    callTools(...args.map((each, n) => ({ name: 'ask_user', arguments: { ...each }, id: `ask_${n}` })));
  await talk.client.call('workstream.update', { wsId: talk.wsId, mode: 'full' });
  model.when('asks', callsOf(QUESTION, { question: 'Which name?' }, { question: 'Which day?' }), say('done'));
  const { question, approvalId, items } = await askFor(talk, 'asks');
  assert.deepEqual(
    items.map((item) => [item.needs_approval, item.question, item.verdict, item.rules]),
    [
      [true, { text: 'Which port?', choices: QUESTION.choices }, undefined, []],
      [true, { text: 'Which name?', choices: [] }, undefined, []],
      [true, { text: 'Which day?', choices: [] }, undefined, []],
    ],
  );
  await daemon.kill9();
  await restart(talk);
  const answer = (decisions: CallDecisions) =>
    talk.client.call('approval.resolve', { approvalId, approved: true, decisions });
  await assert.rejects(answer({ ask_0: { approved: true, choice: '22' } }), /ask_0 has no choice "22"/);
  await assert.rejects(answer({ ask_0: { approved: false, choice: '80' } }), /cannot be denied and answered/);
  await assert.rejects(answer({ ask_9: { approved: true, answer: 'x' } }), /no call ask_9/);
  await assert.rejects(answer({ ask_1: { approved: true, answer: 'x'.repeat(32_769) } }), { code: 'INVALID_REQUEST' });
  await answer({
    ask_0: { approved: true, choice: '443', answer: 'the usual one' },
    ask_1: { approved: true, answer: '' },
  });
  assert.deepEqual(await talk.repeat(question), completed(question));
  await assert.rejects(answer({ ask_0: { approved: true, choice: '80' } }), { code: 'CONFLICT' });
  const results = talk.seen.flatMap(({ event }) => (event.type === 'tool_result' ? [event.output] : []));
  assert.deepEqual(results, ['{"answer":"the usual one","choice":"443"}', '{"answer":""}', '{"answer":null}']);
});

test('A question of the agent must end by a plain denial, with its reason, and be answered over HTTP', async () => {
  await using talk = await openConversation(daemon);
  const ask = callTools({ name: 'ask_user', arguments: QUESTION, id: 'ask_0' });
  model.when('denied', ask, say('done'));
  const denied = await askFor(talk, 'denied');
  await talk.decide(denied.approvalId, { approved: false, feedback: 'decide yourself' });
  await talk.ended(denied.question);
  model.when('over HTTP', ask, say('done'));
  const question = await talk.ask('over HTTP');
  await talk.until('approve_request', ({ approval_id }) => approval_id !== denied.approvalId);
  const [pending] = await talk.pending();
  const { status, body } = await daemon.post('/v1/api/approve', {
    ...{ ws_id: talk.wsId, approved: true, approval_id: pending?.approvalId },
    decisions: { [pending?.items[0]?.call_id ?? '']: { approved: true, choice: '80', feedback: null, answer: null } },
  });
  assert.equal(status, 200, JSON.stringify(body));
  await talk.ended(question);
  const results = talk.seen.flatMap(({ event }) =>
    event.type === 'tool_result' ? [[event.outcome, event.output]] : [],
  );
  assert.deepEqual(results, [
    ['denied', 'Denied by user: decide yourself'],
    ['done', '{"answer":"80","choice":"80"}'],
  ]);
});

test('killed between the approval and the tool: the tool runs once, without a second approval', async () => {
  await daemon.restart(dyingAfter('approval_decided'));
  await using talk = await openConversation(daemon);
  model.when('decided', bash('echo ran >> decided.txt'), say('done'));
  const { question, approvalId } = await askFor(talk, 'decided');
  const decision = { wsId: talk.wsId, approved: true, approvalId, idempotencyKey: 'decided' };
  await assert.rejects(talk.client.call('workstream.approve', decision), { name: 'ConnectionLostError' });
  assert.deepEqual(await daemon.exited(), { code: null, signal: 'SIGKILL' });
  assert.deepEqual(await linesOf('decided.txt'), []);
  await restart(talk);
  assert.deepEqual(await talk.client.call('workstream.approve', decision), { status: 'ok', approvalId });
  assert.deepEqual(await talk.repeat(question), completed(question));
  const { approvals } = await talk.agree();
  assert.deepEqual(
    approvals.map(({ status }) => status),
    ['approved'],
  );
  assert.deepEqual(await linesOf('decided.txt'), ['ran']);
});

for (const [kind, what] of [
  ['tool_started', 'its process'],
  ['tool_process', 'its process may go on'],
] as const) {
  test(`killed after a tool was recorded as started, but before ${what}: nothing ran, and a person is asked`, async () => {
    await daemon.restart(dyingAfter(kind));
    await using talk = await openConversation(daemon);
    model.when(`dies after ${kind}`, bash(`echo ran >> ${kind}.txt`), say('done'));
    const { question, approvalId } = await askFor(talk, `dies after ${kind}`);
    talk.decide(approvalId, { approved: true }).catch(() => undefined); // lost, or answered just before
    assert.deepEqual(await daemon.exited(), { code: null, signal: 'SIGKILL' });
    await restart(talk);
    const again = await talk.until('approve_request', (event) => event.kind === 'outcome');
    assert.deepEqual(await linesOf(`${kind}.txt`), []);
    await talk.decide(again.approval_id, { approved: true });
    assert.deepEqual(await talk.repeat(question), completed(question));
    const { approvals } = await talk.agree();
    assert.deepEqual(
      approvals.map((approval) => [approval.kind, approval.status]),
      [
        ['tools', 'approved'],
        ['outcome', 'approved'],
      ],
    );
    assert.deepEqual(await linesOf(`${kind}.txt`), ['ran']);
  });
}

for (const { name, sandbox, approved, lines, told } of [
  {
    name: 'approved, it runs again',
    sandbox: 'missing',
    approved: true,
    lines: ['ran', 'ran'],
    told: ['approved', 'state running', 'bash answers: up\nslept'],
  },
  {
    name: 'denied, it is skipped',
    sandbox: 'working',
    approved: false,
    lines: ['ran'],
    told: [
      'denied leave it',
      'state running',
      'bash fails: Outcome unknown: Headgate stopped while this ran, and it was not run again. leave it',
    ],
  },
]) {
  test(`killed while a tool with side effects runs: a person is asked about its outcome; ${name}`, async () => {
    const how = sandbox === 'missing' ? { entry: UNSANDBOXED } : {};
    await daemon.restart(how);
    await using talk = await openConversation(daemon);
    const file = `running-${sandbox}.txt`;
    // The first run would take a minute; the second one finds the file.
    const nap = `60.${process.pid}${approved ? 1 : 2}`;
    model.when(
      name,
      bash(`echo ran >> ${file}; echo up; [ -e ${file}.again ] || sleep ${nap}; echo slept`),
      say('done'),
    );
    const { question, approvalId } = await askFor(talk, name);
    await talk.decide(approvalId, { approved: true });
    await talk.until('tool_output_chunk');
    await daemon.kill9();
    while ((await commandLinesWith(nap)).length > 0) await new Promise(setImmediate); // ends with the daemon
    await daemon.restart(how);
    await talk.reconnect();
    const outcome = await talk.until('approve_request', (event) => event.kind === 'outcome');
    assert.deepEqual(await linesOf(file), ['ran']);
    assert.deepEqual(
      (await talk.pending()).map((pending) => pending.approvalId),
      [outcome.approval_id],
    );
    await talk.agree();
    await writeFile(workFile(`${file}.again`), '');
    await talk.decide(outcome.approval_id, { approved, feedback: approved ? '' : 'leave it' });
    assert.deepEqual(await talk.repeat(question), completed(question));
    await talk.agree();
    assert.deepEqual(await linesOf(file), lines);
    const outputs = /^output of/;
    assert.deepEqual(
      talk.story().filter((line) => !outputs.test(line)),
      [
        ...asked(name),
        ...['approved', 'state running', 'asks outcome bash', 'state attention'],
        ...told,
        ...turnLines('done'),
        'state idle (ok)',
      ],
    );
  });
}

test('killed while a repeatable tool runs: it runs again without approval', async () => {
  await daemon.restart(dyingAfter('tool_started'));
  await using talk = await openConversation(daemon);
  await writeFile(workFile('notes.txt'), 'remember the milk\n');
  model.when('repeatable', callTools({ name: 'read_file', arguments: { path: 'notes.txt' } }), say('milk'));
  const question = await talk.ask('repeatable');
  question.answer.catch(() => undefined); // the connection is lost
  assert.deepEqual(await daemon.exited(), { code: null, signal: 'SIGKILL' });
  await restart(talk);
  assert.deepEqual(await talk.repeat(question), completed(question));
  const { runs, approvals } = await talk.agree();
  const starts = runs.flatMap(({ journal }) => journal.filter(({ kind }) => kind === 'tool_started'));
  assert.deepEqual({ starts: starts.length, approvals }, { starts: 2, approvals: [] });
  const [result] = talk.story().filter((line) => line.startsWith('read_file'));
  assert.match(result ?? '', /^read_file answers: .*remember the milk/s);
});
