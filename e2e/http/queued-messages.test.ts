import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Conversation, openConversation } from '../support/clients/conversation.ts';
import { readBody } from '../support/clients/read-body.ts';
import { openStage } from '../support/daemon/stage.ts';
import { callTools, say, stall } from '../support/model/scripted-steps.ts';

const { model, daemon } = await openStage();

const askIn =
  ({ wsId }: Conversation) =>
  async (target: string, sent?: unknown) => {
    const [method = '', route] = target.split(' ');
    const headers = { 'Content-Type': 'application/json' };
    const init = { method, headers, ...(sent !== undefined && { body: JSON.stringify(sent) }) };
    const answer = await daemon.fetch(`/v1/api/workstreams/${wsId}${route}`, init);
    return { status: answer.status, body: await readBody(answer) };
  };

async function textsOf(talk: Conversation): Promise<string[]> {
  const { body } = await askIn(talk)('GET /history');
  return body.messages.map(({ role, content }: { role: string; content: string }) => `${role}: ${content}`);
}

test('A queued message must be announced by `message_queued` to the open streams of its workstream and to those that open while it waits', async () => {
  await using talk = await openConversation(daemon);
  await using early = await daemon.sse(talk.wsId);
  await early.until('history');
  const hold = stall();
  model.when('holds the floor', [hold, say('one')]);
  model.when('is announced', say('two'));
  const { body: first } = await askIn(talk)('POST /send', { message: 'holds the floor' });
  const { body: second } = await askIn(talk)('POST /send', { message: 'is announced' });
  const said = { message: 'is announced', priority: 'notice', msg_id: second.msg_id };
  const announced = { type: 'message_queued', ws_id: talk.wsId, ...said };
  assert.deepEqual(await early.until('message_queued'), { id: undefined, data: announced });
  await using late = await daemon.sse(`/v1/api/workstreams/${talk.wsId}/events`);
  assert.deepEqual((await late.until('message_queued')).data, announced);
  const { body } = await askIn(talk)('GET /history');
  await using resumed = await daemon.sse(`/v1/api/workstreams/${talk.wsId}/events?last_event_id=${body.cursor}`);
  assert.deepEqual((await resumed.until('message_queued')).data, announced);
  hold.release();
  await talk.ended({ runId: second.msg_id });
  const turns = early.frames.filter(({ data }) => data.type === 'user_turn').map(({ data }) => data.run_id);
  assert.deepEqual(turns, [first.msg_id, second.msg_id]);
  await using after = await daemon.sse(talk.wsId);
  await after.until('history');
  assert.equal(
    after.frames.some(({ data }) => data.type === 'message_queued'),
    false,
  );
});

test('A message that begins with `!!!` must be queued as `important` without the marks, and must be read by the run in progress', async () => {
  await using talk = await openConversation(daemon);
  const hold = stall();
  const call = callTools({ name: 'bash', arguments: { command: 'touch it' }, id: 'call_s' });
  model.when('works on it', call, [hold, say('done')]);
  const { body } = await askIn(talk)('POST /send', { message: 'works on it' });
  const { approval_id } = await talk.until('approve_request');
  const { body: sent } = await askIn(talk)('POST /send', { message: '!!! use the other file' });
  assert.deepEqual([sent.status, sent.priority], ['queued', 'important']);
  hold.release();
  await askIn(talk)('POST /approve', { approved: true, cycle_id: approval_id });
  const turn = await talk.until('user_turn', ({ steered_run_id }) => steered_run_id === sent.msg_id);
  assert.deepEqual([turn.message, turn.run_id], ['use the other file', body.msg_id]);
  await talk.ended({ runId: body.msg_id });
});

/** What a stream says about messages that wait: `[type, text or id]`. */
const toldIn = ({ frames }: { frames: readonly { data: Record<string, unknown> }[] }) =>
  frames.flatMap(({ data }) =>
    data.type === 'message_queued' || data.type === 'message_dropped' ? [[data.type, data.message ?? data.msg_id]] : [],
  );

test('A queued message that is taken back or dropped by a cancel must be announced by `message_dropped` to the open streams', async () => {
  await using talk = await openConversation(daemon);
  await using stream = await daemon.sse(talk.wsId);
  await stream.until('history');
  const hold = stall();
  model.when('is in the way', [hold, say('never')]);
  const ids: string[] = [];
  for (const message of ['is in the way', 'taken back', 'dropped'])
    ids.push((await askIn(talk)('POST /send', { message })).body.msg_id);
  const [, taken, dropped] = ids;
  await askIn(talk)('DELETE /send', { msg_id: taken });
  await askIn(talk)('POST /cancel', {});
  await stream.until(({ data }) => data.type === 'message_dropped' && data.msg_id === dropped);
  assert.deepEqual(toldIn(stream), [
    ['message_queued', 'taken back'],
    ['message_queued', 'dropped'],
    ['message_dropped', taken],
    ['message_dropped', dropped],
  ]);
});

test('A queued message that is edited must be announced again by `message_queued` with its new text', async () => {
  await using talk = await openConversation(daemon);
  await using stream = await daemon.sse(talk.wsId);
  await stream.until('history');
  const hold = stall();
  model.when('is long', [hold, say('never')]);
  const ids: string[] = [];
  for (const message of ['is long', 'a', 'b']) ids.push((await askIn(talk)('POST /send', { message })).body.msg_id);
  const [, first = '', second = ''] = ids;
  const { wsId } = talk;
  const client = await daemon.client();
  await client.call('queue.edit', { wsId, runId: second, message: 'bee' });
  await client.call('queue.move', { wsId, runId: second, to: 0 });
  await client.call('queue.steer', { wsId, runId: first });
  await stream.until(({ data }) => data.type === 'message_queued' && data.priority === 'important');
  assert.deepEqual(
    toldIn(stream).map(([, text]) => text),
    ['a', 'b', 'bee', 'bee', 'a', 'a'],
  );
  await askIn(talk)('POST /cancel', {});
});

test('A message that waited must be announced by `message_dispatched` when a run answers or reads it', async () => {
  await using talk = await openConversation(daemon);
  await using stream = await daemon.sse(talk.wsId);
  await stream.until('history');
  const call = callTools({ name: 'bash', arguments: { command: 'touch it' }, id: 'call_d' });
  model.when('is at work', call, say('done'));
  model.when('comes later', say('done later'));
  const ids: string[] = [];
  for (const message of ['is at work', '!!! look here', 'comes later']) {
    ids.push((await askIn(talk)('POST /send', { message })).body.msg_id);
    if (ids.length === 1) await talk.until('approve_request');
  }
  const [first, steering, later] = ids;
  await askIn(talk)('POST /approve', { approved: true });
  await talk.ended({ runId: later ?? '' });
  await stream.until(({ data }) => data.type === 'message_dispatched' && data.msg_id === later);
  const dispatched = stream.frames.filter(({ data }) => data.type === 'message_dispatched');
  const common = { type: 'message_dispatched', ws_id: talk.wsId };
  assert.deepEqual(dispatched, [
    { id: undefined, data: { ...common, msg_id: steering, run_id: first } },
    { id: undefined, data: { ...common, msg_id: later, run_id: later } },
  ]);
});

test('A message beyond the tenth that waits must be answered `queue_full` and not be sent', async () => {
  await using talk = await openConversation(daemon);
  const hold = stall();
  model.when('fills the queue', [hold, say('finally')]);
  const send = async (message: string, more = {}) => await askIn(talk)('POST /send', { message, ...more });
  const { body: first } = await send('fills the queue');
  const waiting: string[] = [];
  for (let n = 0; n < 10; n++) waiting.push((await send(`waits ${n}`)).body.msg_id);
  const none = { attached_ids: [], dropped_attachment_ids: [] };
  assert.deepEqual(await send('one too many'), { status: 200, body: { status: 'queue_full', ...none } });
  for (const msg_id of waiting) await askIn(talk)('DELETE /send', { msg_id });
  hold.release();
  await talk.ended({ runId: first.msg_id });
  assert.deepEqual(await textsOf(talk), ['user: fills the queue', 'assistant: finally']);
});

test('A `client_send_id` must name a message of its caller in its workstream, whatever ids other runs have', async () => {
  await using talk = await openConversation(daemon);
  await using other = await openConversation(daemon);
  const hold = stall();
  model.when('counted', say('first'));
  model.when('holds both up', [hold, say('held')]);
  const counted = { message: 'counted', client_send_id: '1' };
  const first = await askIn(talk)('POST /send', counted);
  assert.deepEqual([first.body.status, first.body.msg_id], ['ok', '1']);
  await talk.ended({ runId: '1' });
  await askIn(other)('POST /send', { message: 'holds both up' });
  const sendWithKey = async () => {
    const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': 'try-1' };
    const init = { method: 'POST', headers, body: JSON.stringify(counted) };
    return readBody(await daemon.fetch(`/v1/api/workstreams/${other.wsId}/send`, init));
  };
  const queued = await sendWithKey();
  assert.deepEqual([queued.status, queued.msg_id === '1'], ['queued', false]);
  const remove = async () => (await askIn(other)('DELETE /send', { msg_id: '1' })).body.status;
  assert.deepEqual([await remove(), await remove()], ['removed', 'not_found']);
  const { run_id } = await sendWithKey();
  hold.release();
  await other.ended({ runId: run_id });
  assert.deepEqual((await other.until('user_turn', (turn) => turn.run_id === run_id)).client_send_ids, ['1']);
});

test('A message that was taken back must be sent when its `client_send_id` is sent again', async () => {
  await using talk = await openConversation(daemon);
  const hold = stall();
  model.when('holds it up', [hold, say('held')]);
  model.when('sent after all', say('at last'));
  await askIn(talk)('POST /send', { message: 'holds it up' });
  const send = async () =>
    (await askIn(talk)('POST /send', { message: 'sent after all', client_send_id: 'again-1' })).body;
  const first = await send();
  assert.deepEqual((await askIn(talk)('DELETE /send', { msg_id: 'again-1' })).body, { status: 'removed' });
  const second = await send();
  assert.deepEqual([first.status, second.status, second.msg_id === first.msg_id], ['queued', 'queued', false]);
  assert.deepEqual(await send(), second, 'and once only');
  hold.release();
  await talk.ended({ runId: second.run_id });
  assert.deepEqual((await textsOf(talk)).slice(2), ['user: sent after all', 'assistant: at last']);
});
