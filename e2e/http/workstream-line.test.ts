import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseCursor } from '../../protocol/cursor.ts';
import { type Conversation, openConversation } from '../support/clients/conversation.ts';
import { readBody } from '../support/clients/read-body.ts';
import { openStage } from '../support/daemon/stage.ts';
import { callTools, say, stall } from '../support/model/scripted-steps.ts';

const { model, daemon } = await openStage();

const UNKNOWN = '0'.repeat(32);
const NOT_FOUND = { status: 404, body: { error: 'Unknown workstream' } };

/** Status and body of a request below /v1/api; `sent` is a JSON value, or the body itself. */
async function ask(target: string, sent?: unknown) {
  const [method = '', route] = target.split(' ');
  const body = typeof sent === 'string' ? sent : JSON.stringify(sent);
  const headers = { 'Content-Type': 'application/json' };
  const answer = await daemon.fetch(`/v1/api/${route}`, { method, headers, ...(sent !== undefined && { body }) });
  return { status: answer.status, body: await readBody(answer) };
}

/** Requests about one workstream, by the end of their path. */
const line = (wsId: string) => (target: string, sent?: unknown) => {
  const [verb, route = ''] = target.split(' ');
  return ask(`${verb} workstreams/${wsId}${route}`, sent);
};

const askIn = ({ wsId }: Conversation) => line(wsId);

/** A run that waits for the approval of one command. */
async function askFor(talk: Conversation, message: string) {
  model.when(message, callTools({ name: 'bash', arguments: { command: 'touch it' }, id: 'call_a' }), say('done'));
  const { body } = await askIn(talk)('POST /send', { message });
  const { approval_id: approvalId } = await talk.until('approve_request');
  return { runId: String(body.run_id), approvalId };
}

async function answered(talk: Conversation, message: string, answer: string) {
  model.when(message, say(answer));
  await (await talk.ask(message)).answer;
}

async function textsOf(talk: Conversation): Promise<string[]> {
  const { body } = await askIn(talk)('GET /history');
  return body.messages.map(({ role, content }: { role: string; content: string }) => `${role}: ${content}`);
}

test('Every path by workstream must answer 404 `Unknown workstream` for an unknown id', async () => {
  for (const wsId of [UNKNOWN, 'main', 'saved-one'])
    for (const [target, sent] of Object.entries({
      'GET ': undefined,
      'GET /history': undefined,
      'GET /events': undefined,
      'POST /send': { message: 'hi' },
      'DELETE /send': { msg_id: 'x' },
      'POST /approve': { approved: true },
      'POST /cancel': {},
      'POST /close': {},
      'POST /rewind': { turns: 1 },
      'GET /files': undefined,
      'GET /files/find': undefined,
      'GET /files/content?path=a.txt': undefined,
      'GET /files/changes': undefined,
      'GET /files/diff?path=a.txt': undefined,
      'GET /checkpoints': undefined,
      'GET /diff': undefined,
      'POST /undo/preview': {},
      'POST /undo': {},
      'POST /redo': {},
      'POST /retry': {},
      'POST /title': { title: 'x' },
      'POST /open': {},
      'DELETE ': undefined,
      'POST /delete': {},
    }))
      assert.deepEqual(await line(wsId)(target, sent), NOT_FOUND, `${target} ${wsId}`);
});

test('The detail of a workstream must show its name, its state and its pending approval', async () => {
  await using talk = await openConversation(daemon, { name: 'shown' });
  const usual = { ws_id: talk.wsId, name: 'shown', user_id: '', kind: 'interactive' };
  const { body } = await askIn(talk)('GET ');
  assert.deepEqual(body, { ...body, ...usual, state: 'idle', title: null, message_count: 0 });
  const { runId, approvalId } = await askFor(talk, 'asks and is shown');
  const { pending_approval, ...rest } = (await askIn(talk)('GET ')).body;
  assert.deepEqual(rest, { ...rest, ...usual, state: 'attention', title: 'asks and is shown' });
  assert.deepEqual(
    [pending_approval.approval_id, pending_approval.cycle_id, pending_approval.items[0].call_id],
    [approvalId, approvalId, 'call_a'],
  );
  await askIn(talk)('POST /approve', { approved: false });
  await talk.ended({ runId });
});

test('A stream opened with the `cursor` of the history as its `last_event_id` must continue exactly after that history', async () => {
  await using talk = await openConversation(daemon);
  await answered(talk, 'before the cursor', 'one');
  const { body } = await askIn(talk)('GET /history?limit=1');
  assert.deepEqual(
    [body.ws_id, body.messages.map(({ content }: { content: string }) => content), body.truncated],
    [talk.wsId, ['one'], true],
  );
  await answered(talk, 'after the cursor', 'two');
  await using stream = await daemon.sse(`/v1/api/workstreams/${talk.wsId}/events?last_event_id=${body.cursor}`);
  const turn = await stream.until('user_turn');
  const [connected, history] = stream.frames;
  assert.deepEqual([connected?.data.recovered, history?.id, history?.data.messages], [true, body.cursor, []]);
  assert.equal(turn.data.message, 'after the cursor');
  const next = stream.frames.find(({ id }, at) => at > 1 && id !== undefined);
  assert.equal(parseCursor(next?.id)?.offset, (parseCursor(body.cursor)?.offset ?? 0) + 1);
});

test('The header `Last-Event-ID` must take precedence over `last_event_id`', async () => {
  await using talk = await openConversation(daemon);
  const cursorNow = async () => (await askIn(talk)('GET /history')).body.cursor;
  const older = await cursorNow();
  await answered(talk, 'moves the cursor', 'moved');
  const newer = await cursorNow();
  const route = `/v1/api/workstreams/${talk.wsId}/events?last_event_id=${older}`;
  await using stream = await daemon.sse(route, { lastEventId: newer });
  assert.equal((await stream.until('history')).data.from, newer);
});

test('A message to a busy workstream must be answered `queued` on its own path, and must be sent after the run', async () => {
  await using talk = await openConversation(daemon);
  const hold = stall();
  model.when('occupies it', [hold, say('first')]);
  model.when('waits its turn', say('second'));
  const first = await askIn(talk)('POST /send', { message: 'occupies it' });
  const { msg_id } = first.body;
  const files = { attached_ids: [], dropped_attachment_ids: [] };
  assert.deepEqual(first, { status: 200, body: { status: 'ok', msg_id, run_id: msg_id, ...files } });
  const second = await askIn(talk)('POST /send', { message: 'waits its turn' });
  const waiting = second.body.msg_id;
  assert.deepEqual(second, {
    status: 200,
    body: { status: 'queued', priority: 'notice', msg_id: waiting, run_id: waiting, ...files },
  });
  hold.release();
  await talk.ended({ runId: waiting });
  const said = ['user: occupies it', 'assistant: first', 'user: waits its turn', 'assistant: second'];
  assert.deepEqual(await textsOf(talk), said);
});

test('A queued message must be taken back once, and then answer `not_found`', async () => {
  await using talk = await openConversation(daemon);
  const hold = stall();
  model.when('occupies it too', [hold, say('alone')]);
  const { body } = await askIn(talk)('POST /send', { message: 'occupies it too' });
  const removed = { status: 200, body: { status: 'removed' } };
  const gone = { status: 200, body: { status: 'not_found' } };
  const queued = async () => (await askIn(talk)('POST /send', { message: 'on second thought' })).body.msg_id;
  const byBody = { msg_id: await queued() };
  assert.deepEqual(await askIn(talk)('DELETE /send', byBody), removed);
  assert.deepEqual(await askIn(talk)('DELETE /send', byBody), gone);
  assert.deepEqual(await askIn(talk)(`DELETE /send?msg_id=${await queued()}`), removed);
  assert.deepEqual(await askIn(talk)('DELETE /send', { msg_id: body.msg_id }), gone);
  hold.release();
  await talk.ended({ runId: body.msg_id });
  assert.deepEqual(await textsOf(talk), ['user: occupies it too', 'assistant: alone']);
});

test('Repeating a `client_send_id` must get the first answer and start nothing', async () => {
  await using talk = await openConversation(daemon);
  model.when('said once', say('heard'));
  const sent = { message: 'said once', client_send_id: 'tab-7_1' };
  const first = await askIn(talk)('POST /send', sent);
  assert.deepEqual([first.body.status, first.body.msg_id], ['ok', 'tab-7_1']);
  await talk.ended({ runId: 'tab-7_1' });
  assert.deepEqual(await askIn(talk)('POST /send', sent), first);
  assert.deepEqual(await textsOf(talk), ['user: said once', 'assistant: heard']);
});

test('An invalid field on a path by workstream must answer 400 with its rule, and change nothing', async () => {
  await using talk = await openConversation(daemon, { name: 'kept' });
  const refusals: Record<string, [error: string, ...sent: unknown[]]> = {
    'POST /send': ['Empty message', {}, { message: ' \n' }],
    'DELETE /send': ['msg_id required', {}, undefined],
    'POST /approve': ['approved must be a boolean', {}, { approved: 'true' }],
    'POST /close': ['reason must have at most 512 bytes', { reason: 'é'.repeat(257) }],
    'POST /rewind': ['turns must be a positive integer', ...[0, -1, 1.5, '1', true].map((turns) => ({ turns })), {}],
    'POST /title': ['title is required', {}, { title: ' ' }],
    'POST /share': ['user_id: no user has this id', { user_id: 'nope' }],
  };
  for (const [target, [error, ...requests]] of Object.entries(refusals))
    for (const sent of requests)
      assert.deepEqual(await askIn(talk)(target, sent), { status: 400, body: { error } }, JSON.stringify(sent));
  const { body } = await askIn(talk)('POST /send', { message: 'x', client_send_id: 'a b' });
  assert.deepEqual(body, { error: 'client_send_id: must have 1 to 128 letters, digits, _ or -' });
  const { body: long } = await askIn(talk)('POST /title', { title: 'x'.repeat(129) });
  assert.deepEqual(long, { error: 'title: must have at most 128 characters' });
  for (const limit of [0, 501]) assert.equal((await askIn(talk)(`GET /history?limit=${limit}`)).status, 400);
  assert.equal((await askIn(talk)('GET ')).body.name, 'kept');
  assert.deepEqual((await talk.agree()).events, []);
});

test('A decision with a stale id on a path by workstream must answer 409 with the ids of the pending question', async () => {
  await using talk = await openConversation(daemon);
  const none = { current_call_id: null, current_cycle_id: null };
  const decide = (names: object) => askIn(talk)('POST /approve', { approved: true, ...names });
  assert.deepEqual(await decide({ call_id: 'call_x' }), { status: 409, body: { error: 'stale call_id', ...none } });
  const { runId, approvalId } = await askFor(talk, 'asks and gets a stale answer');
  const current = { current_call_id: 'call_a', current_cycle_id: approvalId };
  for (const name of ['call_id', 'cycle_id'])
    assert.deepEqual(await decide({ [name]: 'old' }), { status: 409, body: { error: `stale ${name}`, ...current } });
  const { body } = await ask('POST approve', { ws_id: talk.wsId, approved: true, call_id: 'old' });
  assert.deepEqual(body, { error: 'stale call_id' });
  assert.deepEqual(
    (await talk.pending()).map((pending) => pending.approvalId),
    [approvalId],
  );
  await decide({ cycle_id: approvalId, call_id: 'call_a' });
  await talk.ended({ runId });
});

test('A decision on a path by workstream must let the call run', async () => {
  await using talk = await openConversation(daemon);
  const { runId, approvalId } = await askFor(talk, 'asks and may');
  const decide = () => askIn(talk)('POST /approve', { approved: true, feedback: '', always: false });
  assert.deepEqual(await decide(), { status: 200, body: { status: 'ok', cycle_id: approvalId } });
  await talk.ended({ runId });
  assert.equal((await talk.until('tool_result')).outcome, 'done');
  assert.deepEqual((await decide()).body, { status: 'ok', cycle_id: '' }, 'nothing was pending');
});

test('`POST …/{ws_id}/cancel` must stop the run and list what it dropped', async () => {
  await using talk = await openConversation(daemon);
  const { runId, approvalId } = await askFor(talk, 'asks and is stopped');
  const dropped = {
    was_running: true,
    pending_approval: { approval_id: approvalId, tool_names: ['bash'], call_id: 'call_a' },
    stopped_tools: [],
    queued_messages: { count: 0, first_preview: null },
  };
  assert.deepEqual(await askIn(talk)('POST /cancel'), { status: 200, body: { status: 'ok', dropped } });
  await talk.ended({ runId });
});

test('`close` must refuse a body that is not a JSON object, and accept an empty one', async () => {
  await using talk = await openConversation(daemon);
  for (const body of ['{', '[1]', 'null', '"text"'])
    assert.deepEqual(await askIn(talk)('POST /close', body), { status: 400, body: { error: 'Invalid JSON body' } });
  assert.equal((await askIn(talk)('GET ')).status, 200);
  assert.deepEqual(await askIn(talk)('POST /close', ''), { status: 200, body: { status: 'ok' } });
  assert.deepEqual(await askIn(talk)('GET '), NOT_FOUND);
  await using other = await openConversation(daemon);
  assert.equal((await askIn(other)('POST /close', { reason: 'é'.repeat(256) })).status, 200);
});

test('A closed workstream must be opened under its id with its messages, and opening it again must report that', async () => {
  await using talk = await openConversation(daemon, { name: 'comes back' });
  await answered(talk, 'stays stored', 'yes');
  await askIn(talk)('POST /close', {});
  const opened = { ws_id: talk.wsId, name: 'comes back', already_loaded: false };
  assert.deepEqual(await askIn(talk)('POST /open'), { status: 200, body: opened });
  assert.deepEqual((await askIn(talk)('POST /open')).body, { ...opened, already_loaded: true });
  assert.deepEqual(await textsOf(talk), ['user: stays stored', 'assistant: yes']);
  assert.deepEqual(await line(talk.wsId.slice(0, 12))('POST /open'), NOT_FOUND);
});

test('`rewind` and `retry` must act on the last turn of the person', async () => {
  await using talk = await openConversation(daemon);
  await answered(talk, 'first to stay', 'stays');
  await answered(talk, 'second to go', 'goes');
  assert.deepEqual(await askIn(talk)('POST /rewind', { turns: 1 }), {
    status: 200,
    body: { status: 'ok', after_seq: 2, taken: 2 },
  });
  model.when('first to stay', say('better'));
  const { status, body } = await askIn(talk)('POST /retry');
  assert.deepEqual([status, body.status], [200, 'ok']);
  await talk.ended({ runId: body.run_id });
  assert.deepEqual(await textsOf(talk), ['user: first to stay', 'assistant: better']);
});

test('A deleted workstream must be gone, and the main session must not be deleted', async () => {
  await using talk = await openConversation(daemon);
  await answered(talk, 'soon forgotten', 'yes');
  const { key: main } = await talk.client.call('sessions.resolve', { key: 'main' });
  const { workstreams } = await talk.client.call('workstream.list', {});
  const mainId = workstreams.find(({ sessionKey }) => sessionKey === main)?.wsId ?? '';
  const deleted = { status: 200, body: { status: 'ok', deleted: talk.wsId } };
  assert.deepEqual(await askIn(talk)('DELETE '), deleted);
  for (const target of ['DELETE ', 'POST /open']) assert.deepEqual(await askIn(talk)(target), NOT_FOUND);
  const refused = { status: 400, body: { error: 'Cannot delete the main session (main).' } };
  for (const target of ['DELETE ', 'POST /delete']) assert.deepEqual(await line(mainId)(target), refused);
  await using other = await openConversation(daemon);
  const deletedToo = { status: 200, body: { status: 'ok', deleted: other.wsId } };
  assert.deepEqual([await askIn(other)('POST /delete'), await askIn(other)('GET ')], [deletedToo, NOT_FOUND]);
});

test('`GET /v1/api/models` must list the models and name the default one', async () => {
  const { models, default_alias } = (await ask('GET models')).body;
  const row = models.find(({ alias }: { alias: string }) => alias === default_alias);
  assert.deepEqual([row.is_default, typeof row.model, typeof row.provider], [true, 'string', 'string']);
});
