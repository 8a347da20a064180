import assert from 'node:assert/strict';
import { access } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { openConversation } from '../support/clients/conversation.ts';
import { openSocket } from '../support/clients/open-socket.ts';
import { readLedger } from '../support/daemon/ledger.ts';
import { openStage } from '../support/daemon/stage.ts';
import { callTools, fail, say, stall } from '../support/model/scripted-steps.ts';

const { model, daemon } = await openStage();

const bash = (command: string) => callTools({ name: 'bash', arguments: { command } });

test('`agent` must answer twice on one id: accepted, then the final answer', async () => {
  model.when('answer me twice', say('once', ' and twice'));
  const socket = await openSocket(daemon);
  socket.request('agent', { message: 'answer me twice', idempotencyKey: 'twice' });
  await socket.answerTo('r2');
  assert.deepEqual(
    socket.frames.filter((frame) => frame.type === 'res' && frame.id === 'r2'),
    [
      { type: 'res', id: 'r2', ok: true, payload: { runId: 'twice', status: 'accepted' } },
      { type: 'res', id: 'r2', ok: true, payload: { runId: 'twice', status: 'ok', summary: 'completed' } },
    ],
  );
  socket.socket.close();
});

test('A repeat of a finished `agent` must be answered once, with the final answer', async () => {
  model.when('once only', say('done'));
  const params = { message: 'once only', idempotencyKey: 'finished' };
  const first = await openSocket(daemon);
  await first.call('agent', params);
  first.socket.close();
  const socket = await openSocket(daemon);
  await socket.call('agent', params);
  await daemon.restart();
  const after = await openSocket(daemon);
  await after.call('agent', params);
  await after.call('health'); // all other frames have arrived
  for (const { frames } of [socket, after]) {
    assert.deepEqual(
      frames.filter((frame) => frame.type === 'res' && frame.id === 'r2'),
      [{ type: 'res', id: 'r2', ok: true, payload: { runId: 'finished', status: 'ok', summary: 'completed' } }],
    );
  }
  after.socket.close();
});

test('an answer as data survives kill -9 while the model tries again, and the key gets it after another restart', async () => {
  const hold = stall();
  let asked = 0;
  model.onRequest(({ messages }) => {
    if (!JSON.stringify(messages).includes('a pear as data')) return undefined;
    asked += 1;
    if (asked === 1) return say('A pear.');
    return asked === 2 ? [say('{"na'), hold] : say('{"name": "pear"}');
  });
  const outputSchema = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] };
  const params = { sessionKey: 'data', message: 'a pear as data', idempotencyKey: 'data', outputSchema };
  const before = await openSocket(daemon);
  const cut = before.request('agent', params).catch(() => undefined); // the socket closes
  await hold.reached;
  await daemon.kill9();
  await cut;
  await daemon.restart();
  const expected = { runId: 'data', status: 'ok', summary: 'completed', output: { name: 'pear' } };
  const rounds: number[] = [];
  for (let round = 0; round < 2; round += 1) {
    const client = await daemon.client();
    assert.deepEqual(await client.call('agent', params), expected);
    const waited = await client.call('agent.wait', { runId: 'data', timeoutMs: 0 });
    assert.deepEqual([waited.status, waited.output], ['ok', { name: 'pear' }]);
    rounds.push(asked);
    client.close();
    await daemon.restart();
  }
  const told = model.requests.map(({ body: { messages } }) => JSON.stringify(messages.slice(1)));
  // A request that failed before its answer began may be repeated; an answer that is stored is never asked for again.
  assert.ok(
    asked >= 3 && rounds.every((count) => count === asked),
    told.filter((text) => text.includes('a pear as data')).join('\n'),
  );
  const prefixes = model.requests
    .slice(-3)
    .map(({ body: { messages, tools } }) => JSON.stringify([messages[0], tools]));
  assert.equal(new Set(prefixes).size, 1); // the schema changes neither the system prompt nor the tools
});

test('a run whose answers do not fit its schema is answered OUTPUT_MISMATCH with what is wrong', async () => {
  model.onRequest(({ messages }) => (JSON.stringify(messages).includes('never fits') ? say('[1]') : undefined));
  const socket = await openSocket(daemon);
  const outputSchema = { items: { type: 'string', pattern: '^(a+)+$' } };
  const params = { sessionKey: 'misfit', message: 'never fits', idempotencyKey: 'misfit', outputSchema };
  const { ok, error } = await socket.request('agent', params);
  assert.deepEqual([ok, error?.code, error?.retryable], [false, 'OUTPUT_MISMATCH', false]);
  assert.deepEqual(error?.details, { errors: [{ path: '/0', message: 'must be string' }] });
  const refused = await socket.request('agent', {
    ...params,
    idempotencyKey: 'none',
    outputSchema: { type: 'strange' },
  });
  assert.equal(refused.error?.code, 'INVALID_REQUEST');
  socket.socket.close();
});

test('`chat.abort` of a run of another session must be answered INVALID_REQUEST', async () => {
  const hold = stall();
  model.when('hold on', hold, say('done'));
  const socket = await openSocket(daemon);
  await socket.call('chat.send', { sessionKey: 'held', message: 'hold on', idempotencyKey: 'held' });
  await socket.call('sessions.patch', { key: 'other' });
  for (const sessionKey of ['other', 'main', 'nowhere']) {
    const { error } = await socket.request('chat.abort', { sessionKey, runId: 'held' });
    assert.deepEqual([error?.code, error?.message], ['INVALID_REQUEST', 'runId does not match sessionKey'], sessionKey);
  }
  assert.deepEqual(await socket.call('chat.abort', { sessionKey: 'held', runId: 'held' }), { ok: true, aborted: true });
  socket.socket.close();
});

test('A failed run must answer `agent` with both its result and an error', async () => {
  model.when('this fails', fail(400, { message: 'no such thing' }));
  const socket = await openSocket(daemon);
  const { ok, payload, error } = await socket.request('agent', { message: 'this fails', idempotencyKey: 'fails' });
  const summary = error?.message;
  assert.deepEqual(
    { ok, payload, code: error?.code, retryable: error?.retryable },
    { ok: false, payload: { runId: 'fails', status: 'error', summary }, code: 'UNAVAILABLE', retryable: false },
  );
  assert.match(summary ?? '', /no such thing/);
  socket.socket.close();
});

test('The final answer of `agent` must come after the workstream is free for the next message', async () => {
  await using talk = await openConversation(daemon);
  model.when('free', say('yes'));
  for (let n = 0; n < 10; n += 1) {
    const { answer } = await talk.ask('free?');
    await answer;
    const { body } = await daemon.post('/v1/api/send', { ws_id: talk.wsId, message: 'free now?' });
    assert.equal(body.status, 'ok');
    await talk.client.call('agent.wait', { runId: body.run_id });
  }
});

test('`agent.wait` must answer `timeout` as a success if the run is still in progress', async () => {
  await using talk = await openConversation(daemon);
  const hold = stall();
  model.when('slow', hold, say('done'));
  const { runId, answer } = await talk.ask('slow');
  for (const timeoutMs of [0, 30]) {
    const { startedAt, ...waited } = await talk.client.call('agent.wait', { runId, timeoutMs });
    assert.deepEqual([waited, typeof startedAt], [{ runId, status: 'timeout' }, 'number']);
  }
  hold.release();
  await answer;
  const { startedAt = 0, endedAt = 0, ...waited } = await talk.client.call('agent.wait', { runId, timeoutMs: 0 });
  assert.deepEqual([waited, startedAt <= endedAt], [{ runId, status: 'ok' }, true]);
});

test('`chat.abort` of an unknown or finished run must answer `aborted: false`', async () => {
  await using talk = await openConversation(daemon);
  const { client, wsId: sessionKey } = talk;
  model.when('soon over', say('over'));
  const { runId, answer } = await talk.ask('soon over');
  await answer;
  for (const params of [{ runId }, { runId: 'never-heard-of' }, {}])
    assert.deepEqual(await client.call('chat.abort', { sessionKey, ...params }), { ok: true, aborted: false });
  model.when('never over', stall());
  const running = await talk.ask('never over');
  assert.deepEqual(await client.call('chat.abort', { sessionKey, runId: running.runId }), { ok: true, aborted: true });
  await assert.rejects(running.answer, { code: 'CONFLICT' });
});

test('A tool call that needs approval must not start before it is approved', async () => {
  await using talk = await openConversation(daemon);
  model.when('not before', bash('touch not-before.txt'), say('done'));
  const { answer } = await talk.ask('not before');
  const { approval_id: approvalId } = await talk.until('approve_request');
  const kinds = () => readLedger(daemon.home, talk.wsId).runs.flatMap(({ journal }) => journal.map(({ kind }) => kind));
  assert.deepEqual(kinds(), ['started', 'model_called', 'model_answered', 'approval_asked']);
  const file = path.join(daemon.home, 'workspace', 'not-before.txt');
  await assert.rejects(access(file), { code: 'ENOENT' });
  await talk.decide(approvalId, { approved: true });
  await answer;
  await access(file);
  assert.deepEqual(kinds().slice(4, 8), ['approval_decided', 'tool_started', 'tool_process', 'tool_finished']);
});

test('The second decision on one approval must be answered CONFLICT', async () => {
  await using talk = await openConversation(daemon);
  model.when('only once', bash('touch it'), say('done'));
  const { answer } = await talk.ask('only once');
  const { approval_id: approvalId } = await talk.until('approve_request');
  const decisions = [true, false, true].map((approved) => talk.decide(approvalId, { approved }));
  const outcomes = await Promise.allSettled(decisions);
  const codes = outcomes.map((outcome) => (outcome.status === 'fulfilled' ? 'ok' : outcome.reason.code));
  assert.deepEqual(codes, ['ok', 'CONFLICT', 'CONFLICT']);
  await answer;
  await assert.rejects(talk.decide(approvalId, { approved: true }), { code: 'CONFLICT' });
  await talk.agree();
});

test('An unknown approval must be answered NOT_FOUND', async () => {
  await using talk = await openConversation(daemon);
  await assert.rejects(talk.decide('apr_unknown', { approved: true }), { code: 'NOT_FOUND' });
});

test('A repeat with the same key and params must get the first answer and start nothing, even after a restart', async () => {
  await using talk = await openConversation(daemon);
  const { client, wsId } = talk;
  model.when('repeat me', say('done'));
  const send = { wsId, message: 'repeat me', idempotencyKey: 'send-1' };
  const create = { name: 'made-once', idempotencyKey: 'create-1' };
  const question = await talk.ask('repeat me too');
  const answers = async () => [
    await talk.repeat(question),
    await client.call('workstream.send', send),
    await client.call('workstream.create', create),
  ];
  await question.answer;
  const first = await answers();
  await talk.ended({ runId: 'send-1' });
  const asked = model.requests.length;
  assert.deepEqual(await answers(), first);
  await daemon.restart();
  await talk.reconnect();
  assert.deepEqual(await answers(), first);
  const { workstreams } = await client.call('workstream.list', {});
  assert.equal(workstreams.filter(({ name }) => name === 'made-once').length, 1);
  assert.equal(model.requests.length, asked);
  assert.equal((await talk.agree()).runs.length, 2);
});

test('The same key with other params must be answered CONFLICT', async () => {
  await using talk = await openConversation(daemon);
  const { client, wsId } = talk;
  model.when('one thing', say('done'));
  const params = { wsId, message: 'one thing', idempotencyKey: 'one-key' };
  await client.call('workstream.send', params);
  const another = client.call('workstream.send', { ...params, message: 'another thing' });
  await assert.rejects(another, { code: 'CONFLICT', retryable: false });
  await talk.ended({ runId: 'one-key' });
  assert.equal((await talk.agree()).runs.length, 1);
});

test('A repeat of `chat.send` must answer `in_flight` while the run is in progress and `ok` once it has ended', async () => {
  await using talk = await openConversation(daemon);
  const hold = stall();
  model.when('in flight', [hold, say('landed')]);
  const params = { sessionKey: talk.wsId, message: 'in flight', idempotencyKey: 'flight-1' };
  const send = () => talk.client.call('chat.send', params);
  assert.deepEqual(await send(), { runId: 'flight-1', status: 'started' });
  assert.deepEqual(await send(), { runId: 'flight-1', status: 'in_flight' });
  hold.release();
  await talk.ended({ runId: 'flight-1' });
  assert.deepEqual(await send(), { runId: 'flight-1', status: 'ok' });
});

test('`agent` and `chat.send` must be refused without an `idempotencyKey`', async () => {
  const socket = await openSocket(daemon);
  for (const [method, params] of [
    ['agent', { message: 'hi' }],
    ['chat.send', { message: 'hi', sessionKey: 'main' }],
  ] as const)
    for (const key of [{}, { idempotencyKey: '' }, { idempotencyKey: 'x'.repeat(257) }]) {
      const { ok, error } = await socket.request(method, { ...params, ...key });
      assert.deepEqual([ok, error?.code], [false, 'INVALID_REQUEST']);
      assert.match(error?.message ?? '', /idempotencyKey/);
    }
  socket.socket.close();
});
