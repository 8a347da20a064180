import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Conversation, openConversation } from '../support/clients/conversation.ts';
import { readBody } from '../support/clients/read-body.ts';
import { runHeadgate } from '../support/daemon/daemon.ts';
import { openStage } from '../support/daemon/stage.ts';
import { callTools, say, stall } from '../support/model/scripted-steps.ts';

const { model, daemon } = await openStage();

const UNKNOWN = '0'.repeat(32);
const bash = (command: string) => callTools({ name: 'bash', arguments: { command } });

/** Status and body of a POST below /v1/api. */
async function post(route: string, body: unknown, headers: Record<string, string> = {}) {
  const init = {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(body),
  };
  const response = await daemon.fetch(`/v1/api/${route}`, init);
  return { status: response.status, body: await readBody(response) };
}

/** Starts a run that waits for the approval of one command. */
async function askFor(talk: Conversation, message: string, command = 'touch it') {
  model.when(message, bash(command), say('done'));
  const { body } = await post('send', { ws_id: talk.wsId, message });
  const { approval_id: approvalId, items } = await talk.until('approve_request');
  return { runId: String(body.run_id), approvalId, callId: items[0]?.call_id };
}

test('An empty message must answer 400 `Empty message`, even for an unknown workstream', async () => {
  for (const message of ['', ' \n', undefined])
    assert.deepEqual(await post('send', { ws_id: UNKNOWN, message }), {
      status: 400,
      body: { error: 'Empty message' },
    });
});

test('An unknown workstream must answer 404 `Unknown workstream`', async () => {
  const answer = { status: 404, body: { error: 'Unknown workstream' } };
  for (const ws_id of [UNKNOWN, 'main', '', undefined])
    for (const [route, rest] of Object.entries({
      send: { message: 'hi' },
      approve: { approved: true },
      cancel: {},
      command: { command: '/help' },
      plan: { feedback: '' },
      'workstreams/close': {},
    }))
      assert.deepEqual(await post(route, { ws_id, ...rest }), answer, `${route} ${ws_id}`);
});

test('A message to a busy workstream must answer 200 with `busy` and push `busy_error` to its streams', async () => {
  await using talk = await openConversation(daemon);
  await using stream = await daemon.sse(talk.wsId);
  const hold = stall();
  model.when('keeps it busy', [hold, say('done')]);
  const first = await post('send', { ws_id: talk.wsId, message: 'keeps it busy' });
  assert.equal(first.body.status, 'ok');
  const second = await post('send', { ws_id: talk.wsId, message: 'too soon' });
  assert.deepEqual(second, { status: 200, body: { status: 'busy' } });
  const { id, data } = await stream.until('busy_error');
  const message = 'Already processing a request. Please wait.';
  assert.deepEqual({ id, data }, { id: undefined, data: { type: 'busy_error', ws_id: talk.wsId, message } });
  hold.release();
  await talk.ended({ runId: first.body.run_id });
  assert.equal((await talk.agree()).runs.length, 1);
});

test('A repeat with the same `Idempotency-Key` must get the first answer and start nothing', async () => {
  await using talk = await openConversation(daemon);
  model.when('keyed', say('done'));
  const headers = { 'Idempotency-Key': 'key-1' };
  const send = () => post('send', { ws_id: talk.wsId, message: 'keyed' }, headers);
  const first = await send();
  assert.deepEqual(first, { status: 200, body: { status: 'ok', run_id: 'key-1' } });
  await talk.ended({ runId: 'key-1' });
  assert.deepEqual([await send(), await send()], [first, first]);
  const create = () => post('workstreams/new', { name: 'keyed' }, headers);
  assert.deepEqual(await create(), await create());
  assert.equal((await talk.agree()).runs.length, 1);
});

test('The same `Idempotency-Key` with another message must answer 409', async () => {
  await using talk = await openConversation(daemon);
  model.when('the first', say('done'));
  const headers = { 'Idempotency-Key': 'key-2' };
  await post('send', { ws_id: talk.wsId, message: 'the first' }, headers);
  await talk.ended({ runId: 'key-2' });
  const { status, body } = await post('send', { ws_id: talk.wsId, message: 'another' }, headers);
  assert.equal(status, 409);
  assert.match(body.error, /key was used with other params/);
  assert.equal((await talk.agree()).runs.length, 1);
});

test('An approval without `approved` set to true or false must answer 400 and decide nothing', async () => {
  await using talk = await openConversation(daemon);
  const { runId, approvalId } = await askFor(talk, 'neither yes nor no');
  for (const approved of [undefined, null, 'true', 'false', 1, 0, {}]) {
    const { status } = await post('approve', { ws_id: talk.wsId, approved, approval_id: approvalId });
    assert.equal(status, 400, String(approved));
  }
  assert.deepEqual(
    (await talk.pending()).map((pending) => pending.approvalId),
    [approvalId],
  );
  await post('approve', { ws_id: talk.wsId, approved: false });
  await talk.ended({ runId });
});

test('A stale `approval_id` must answer 409 and decide nothing', async () => {
  await using talk = await openConversation(daemon);
  model.when('two questions', bash('touch it'), bash('touch it; false'), say('done'));
  const { body } = await post('send', { ws_id: talk.wsId, message: 'two questions' });
  const { approval_id: first } = await talk.until('approve_request');
  const decide = { ws_id: talk.wsId, approved: true, approval_id: first };
  assert.deepEqual(await post('approve', decide), { status: 200, body: { status: 'ok' } });
  const second = await talk.until('approve_request', ({ approval_id }) => approval_id !== first);
  assert.equal((await post('approve', decide)).status, 409);
  assert.deepEqual(
    (await talk.pending()).map((pending) => pending.approvalId),
    [second.approval_id],
  );
  await post('approve', { ...decide, approval_id: second.approval_id });
  await talk.ended({ runId: body.run_id });
  const { approvals } = await talk.agree();
  assert.deepEqual(
    approvals.map(({ status }) => status),
    ['approved', 'approved'],
  );
});

const PLAN = [
  ...['## Goal', 'Move the port into the configuration, so that two servers can run.'],
  ...['## Current State', 'server.ts has the number.', '## Plan', '1. Add it to config.ts', '2. Read it'],
  ...['## Risks', 'Scripts that know the number.'],
].join('\n');

test('A plan must be answered by `POST /v1/api/plan`, and an answer without a `feedback` that is a string must answer 400 and decide nothing', async () => {
  await using talk = await openConversation(daemon);
  await using stream = await daemon.sse(talk.wsId);
  const plan = callTools({ name: 'plan_agent', arguments: { goal: 'GOAL: move the port' } });
  model.when('make a plan', plan, say('done'));
  model.when('GOAL: move the port', callTools({ name: 'list_directory', arguments: { path: '.' } }), say(PLAN));
  model.when('says:\nsmaller', say(`${PLAN}\nSmaller.`));
  const { body } = await post('send', { ws_id: talk.wsId, message: 'make a plan' });
  const { approval_id } = await talk.until('approve_request');
  await post('approve', { ws_id: talk.wsId, approved: true, approval_id });
  const { data: first } = await stream.until('plan_review');
  assert.deepEqual([first.content, first.round, first.goal], [PLAN, 1, 'GOAL: move the port']);
  for (const feedback of [undefined, null, false, 0, {}, ['']]) {
    const refused = await post('plan', { ws_id: talk.wsId, feedback });
    const error = 'feedback: must be a string; an empty one approves the plan';
    assert.deepEqual(refused, { status: 400, body: { error } });
  }
  assert.deepEqual(
    (await talk.pending()).map(({ approvalId }) => approvalId),
    [first.approval_id],
  );
  const answer = (feedback: string, id: unknown) => post('plan', { ws_id: talk.wsId, feedback, approval_id: id });
  const headgate = (...words: string[]) => runHeadgate(['plan', ...words], { HEADGATE_HOME: daemon.home });
  assert.match((await headgate()).stdout, new RegExp(`^${first.approval_id}  .*first plan\n\n## Goal\n`));
  assert.equal((await headgate('revise', first.approval_id, 'smaller')).stderr, 'The agent writes another plan.\n');
  const { data: second } = await stream.until((frame) => frame.data.type === 'plan_review' && frame.data.round === 2);
  assert.equal((await answer('', first.approval_id)).status, 409);
  assert.deepEqual(await answer('', second.approval_id), {
    status: 200,
    body: { status: 'ok', approval_id: second.approval_id, outcome: 'approved' },
  });
  assert.equal((await stream.until((frame) => frame.data.outcome === 'approved')).data.type, 'plan_resolved');
  const { todo } = await talk.until('tool_result', ({ name }) => name === 'plan_agent');
  assert.deepEqual(
    todo?.map(({ text }) => text),
    ['Add it to config.ts', 'Read it'],
  );
  await talk.ended({ runId: body.run_id });
});

test('An approval without a pending question must answer 200 and change nothing', async () => {
  await using talk = await openConversation(daemon);
  for (const approved of [true, false]) {
    const answer = await post('approve', { ws_id: talk.wsId, approved, always: true });
    assert.deepEqual(answer, { status: 200, body: { status: 'ok' } });
  }
  const { runId } = await askFor(talk, 'still asked');
  await post('approve', { ws_id: talk.wsId, approved: false });
  await talk.ended({ runId });
  assert.equal((await talk.agree()).approvals.length, 1);
});

test('A denial with feedback must reach the model as `Denied by user: ` and the feedback', async () => {
  await using talk = await openConversation(daemon);
  const { runId } = await askFor(talk, 'may I');
  const feedback = 'use the other folder';
  await post('approve', { ws_id: talk.wsId, approved: false, feedback });
  await talk.ended({ runId });
  const last = model.requests.at(-1)?.body.messages.at(-1);
  assert.deepEqual([last?.role, last?.content], ['tool', `Denied by user: ${feedback}`]);
});

test('Cancelling an idle workstream must answer 200 with nothing dropped', async () => {
  await using talk = await openConversation(daemon);
  const dropped = {
    was_running: false,
    pending_approval: null,
    stopped_tools: [],
    queued_messages: { count: 0, first_preview: null },
  };
  for (const force of [false, true])
    assert.deepEqual(await post('cancel', { ws_id: talk.wsId, force }), {
      status: 200,
      body: { status: 'ok', dropped },
    });
  assert.deepEqual((await talk.agree()).events, []);
});

test('`force` must take effect only if it is exactly `true`', async () => {
  for (const force of ['true', 1, {}, null, true]) {
    await using talk = await openConversation(daemon);
    model.when('by force?', [say('half'), stall()]);
    const { body } = await post('send', { ws_id: talk.wsId, message: 'by force?' });
    await talk.until('content');
    await post('cancel', { ws_id: talk.wsId, force });
    await talk.ended({ runId: body.run_id });
    const end = ['stream_end', 'state idle (cancelled)'];
    const expected = force === true ? end : ['cancelled', ...end];
    assert.deepEqual(talk.story().slice(talk.story().indexOf('content: half') + 1), expected, String(force));
  }
});

test('A cancel must deny the pending question, stop the run and report both in `dropped`', async () => {
  await using asking = await openConversation(daemon);
  const { approvalId, callId } = await askFor(asking, 'asks and is cancelled');
  const behind = await asking.ask('waits behind');
  behind.answer.catch(() => undefined); // dropped
  assert.deepEqual((await post('cancel', { ws_id: asking.wsId })).body.dropped, {
    was_running: true,
    pending_approval: { approval_id: approvalId, tool_names: ['bash'], call_id: callId },
    stopped_tools: [],
    queued_messages: { count: 1, first_preview: 'waits behind' },
  });
  const { approvals, runs } = await asking.agree();
  assert.deepEqual(
    [approvals.map(({ status }) => status), runs.map(({ run }) => run.status)],
    [['cancelled'], ['cancelled', 'cancelled']],
  );
  await using running = await openConversation(daemon);
  const { runId } = await askFor(running, 'runs and is cancelled', 'touch it; echo up; sleep 60');
  await post('approve', { ws_id: running.wsId, approved: true });
  await running.until('tool_output_chunk');
  assert.deepEqual((await post('cancel', { ws_id: running.wsId })).body.dropped, {
    was_running: true,
    pending_approval: null,
    stopped_tools: ['bash'],
    queued_messages: { count: 0, first_preview: null },
  });
  await running.ended({ runId });
  await running.agree();
});

test('`resume_ws` of a stored workstream must reopen it under its id with its messages', async () => {
  await using talk = await openConversation(daemon);
  const { wsId } = talk;
  model.when('remember this', say('I do'));
  await (await talk.ask('remember this')).answer;
  await post('workstreams/close', { ws_id: wsId });
  assert.equal((await post('send', { ws_id: wsId, message: 'hi' })).status, 404);
  const { name } = (await post('workstreams/new', { resume_ws: wsId })).body;
  assert.deepEqual(await post('workstreams/new', { resume_ws: wsId.slice(0, 12) }), {
    status: 200,
    body: { ws_id: wsId, name, resumed: true, message_count: 2 },
  });
  await using stream = await daemon.sse(wsId);
  const { messages } = (await stream.until('history')).data;
  const said = messages.map(({ role, content }: { role: string; content: string }) => `${role}: ${content}`);
  assert.deepEqual(said, ['user: remember this', 'assistant: I do']);
});

test('An empty command must answer 400 `Empty command`', async () => {
  await using talk = await openConversation(daemon);
  for (const command of ['', ' ', undefined])
    assert.deepEqual(await post('command', { ws_id: talk.wsId, command }), {
      status: 400,
      body: { error: 'Empty command' },
    });
});

test('Closing the last workstream must answer 400 `Cannot close last workstream`', async () => {
  const { workstreams } = (await daemon.get('/v1/api/workstreams')).body;
  const closed = [];
  for (const { ws_id } of workstreams) closed.push(await post('workstreams/close', { ws_id }));
  const last = closed.pop();
  assert.deepEqual(new Set(closed.map(({ status }) => status)), new Set([200]));
  assert.deepEqual(last, { status: 400, body: { error: 'Cannot close last workstream' } });
});
