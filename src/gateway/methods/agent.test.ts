import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ProviderError } from '../../agent/providers/model.ts';
import { calling } from '../testing/puppet-model.ts';
import { callerOf, turnsUntil, type WholeGateway, wholeGateway } from '../testing/whole-gateway.ts';

const ASK = { message: 'hello', idempotencyKey: 'k1' };
const ACCEPTED = { runId: 'k1', status: 'accepted' };
const NEW_KEY = ' (allowed in a new key: lower-case letters, digits and . _ : -, at most 64, a letter or digit first)';
const FINAL = { runId: 'k1', status: 'ok', summary: 'completed' };

/** A running agent call: its interim answers, and its end. */
function asking(gateway: WholeGateway, params: object = {}, signal?: AbortSignal) {
  const interims: unknown[] = [];
  const interim = (payload: unknown) => void interims.push(payload);
  const caller = callerOf({ interim, ...(signal && { signal }) });
  const answer = Promise.resolve(gateway.gateway.dispatch('agent', { ...ASK, ...params }, caller)).catch(
    ({ code, message, payload }) => ({ code, message, payload }),
  );
  return { interims, answer, accepted: () => turnsUntil(() => interims.length > 0, 'accepted') };
}

test('agent answers accepted, runs the turn in main, and sends the final answer', async () => {
  await using gateway = await wholeGateway();
  gateway.puppet.turn('Hi ', 'there');
  const said: unknown[] = [];
  const answer = await gateway.call('agent', ASK, { interim: (payload) => said.push(payload) });
  assert.deepEqual([said, answer], [[ACCEPTED], FINAL]);
  const main = await gateway.main();
  assert.deepEqual((await gateway.events(main))[0], {
    type: 'user_turn',
    message: 'hello',
    run_id: 'k1',
    source: 'agent',
    client_send_ids: ['k1'],
    seq: 1,
    created_ms: 1_000_000,
  });
  const { messages } = await gateway.call('workstream.history', { wsId: main });
  assert.deepEqual(
    messages.map(({ role, content }) => [role, content]),
    [
      ['user', 'hello'],
      ['assistant', 'Hi there'],
    ],
  );
});

test('the same key twice at once is one run; both callers get accepted and the end', async () => {
  await using gateway = await wholeGateway();
  const answered = Promise.withResolvers<void>();
  gateway.puppet.turn(answered.promise, 'once');
  const [first, second] = [asking(gateway), asking(gateway)];
  await Promise.all([first.accepted(), second.accepted()]);
  answered.resolve();
  assert.deepEqual([await first.answer, await second.answer], [FINAL, FINAL]);
  assert.deepEqual([first.interims, second.interims], [[ACCEPTED], [ACCEPTED]]);
  assert.equal(gateway.puppet.requests.length, 1);
});

test('a caller who disconnected repeats the call and gets the end of the same run', async () => {
  await using gateway = await wholeGateway();
  const answered = Promise.withResolvers<void>();
  gateway.puppet.turn(answered.promise, 'once');
  const gone = new AbortController();
  const first = asking(gateway, {}, gone.signal);
  await first.accepted();
  gone.abort(new Error('gone'));
  await first.answer;
  const second = asking(gateway);
  await second.accepted();
  answered.resolve();
  assert.deepEqual([second.interims, await second.answer], [[ACCEPTED], FINAL]);
  assert.equal(gateway.puppet.requests.length, 1);
});

test('the same key with another message is a conflict', async () => {
  await using gateway = await wholeGateway();
  await gateway.call('agent', ASK);
  const { code } = await gateway.refusal('agent', { ...ASK, message: 'other' });
  assert.equal(code, 'CONFLICT');
  assert.equal(gateway.puppet.requests.length, 1);
});

test('a repeat of a finished run gets only the final answer and runs nothing, also after a restart', async () => {
  await using gateway = await wholeGateway();
  await gateway.call('agent', ASK);
  for (let round = 0; round < 2; round += 1) {
    const { interims, answer } = asking(gateway);
    assert.deepEqual([await answer, interims], [FINAL, []]);
    await gateway.restart();
  }
  assert.equal(gateway.puppet.requests.length, 1);
});

test('a run interrupted by a restart continues, and a repeat waits for its end', async () => {
  await using gateway = await wholeGateway();
  gateway.puppet.turn('half an ans', new Promise(() => undefined));
  gateway.puppet.turn('the whole answer');
  const cut = asking(gateway);
  await gateway.reaches(await gateway.main(), 'content');
  const gone = cut.answer;
  await gateway.restart();
  void gone;
  assert.deepEqual(await asking(gateway).answer, FINAL);
  const { messages } = await gateway.call('workstream.history', { wsId: await gateway.main() });
  assert.deepEqual(
    messages.map(({ content }) => content),
    ['hello', 'the whole answer'],
  );
});

test('a failed run is an error that includes the result, and stays one for its key', async () => {
  await using gateway = await wholeGateway();
  gateway.puppet.turn(new ProviderError('unreachable', 'nobody answers at http://model'));
  const failed = {
    code: 'UNAVAILABLE',
    message: 'nobody answers at http://model',
    payload: { runId: 'k1', status: 'error', summary: 'nobody answers at http://model' },
  };
  assert.deepEqual(await gateway.refusal('agent', ASK), failed);
  assert.deepEqual(await gateway.refusal('agent', ASK), failed);
  await gateway.restart();
  assert.deepEqual(await gateway.refusal('agent', ASK), failed);
});

test('a cancelled run is answered CONFLICT with its result', async () => {
  await using gateway = await wholeGateway();
  gateway.puppet.turn('wait', new Promise(() => undefined));
  const { answer, accepted } = asking(gateway);
  await accepted();
  await gateway.call('chat.abort', { sessionKey: 'main' });
  assert.deepEqual(await answer, {
    code: 'CONFLICT',
    message: 'The run was cancelled',
    payload: { runId: 'k1', status: 'error', summary: 'cancelled' },
  });
});

test('a run that takes longer than its timeout is answered AGENT_TIMEOUT', async () => {
  await using gateway = await wholeGateway();
  gateway.puppet.turn('wait', new Promise(() => undefined));
  const { answer } = asking(gateway, { timeout: 3 });
  await gateway.reaches(await gateway.main(), 'content');
  await gateway.clock.advance(3_000);
  assert.deepEqual(await answer, {
    code: 'AGENT_TIMEOUT',
    message: 'The run took longer than 3 s',
    payload: { runId: 'k1', status: 'error', summary: 'The run took longer than 3 s' },
  });
});

test('the session is found by key, by id, or is main; an unknown alias is created, an invalid key is not found', async () => {
  await using gateway = await wholeGateway();
  await gateway.call('agent', { ...ASK, sessionKey: ' work ' });
  const { workstreams } = await gateway.call('workstream.list', {});
  const work = workstreams.find(({ name }) => name === 'work');
  assert.equal(work?.messageCount, 2);
  await gateway.call('agent', { ...ASK, idempotencyKey: 'k2', sessionId: work?.wsId ?? '' });
  await gateway.call('agent', { ...ASK, idempotencyKey: 'k3', sessionKey: '' });
  const counts = (await gateway.call('workstream.list', {})).workstreams.map(({ name, messageCount }) => [
    name.replace(/^ws-.*/, 'main'),
    messageCount,
  ]);
  assert.deepEqual(counts, [
    ['main', 2],
    ['work', 4],
  ]);
  const unknown = { ...ASK, idempotencyKey: 'k4', sessionKey: 'No Such Session' };
  assert.deepEqual(await gateway.refusal('agent', unknown), {
    code: 'NOT_FOUND',
    message: `Unknown session: No Such Session${NEW_KEY}`,
  });
});

test('a sessionKey and a sessionId of different sessions are refused, and create none', async () => {
  await using gateway = await wholeGateway();
  const sessionId = await gateway.main();
  for (const sessionKey of ['work', 'cron:daily'])
    assert.deepEqual(await gateway.refusal('agent', { ...ASK, idempotencyKey: sessionKey, sessionKey, sessionId }), {
      code: 'INVALID_REQUEST',
      message: `sessionKey ${sessionKey} and sessionId ${sessionId} name different sessions`,
    });
  assert.equal((await gateway.call('workstream.list', {})).workstreams.length, 1);
  assert.equal((await gateway.call('agent', { ...ASK, sessionKey: 'main', sessionId })).status, 'ok');
});

test('thinking is a level of the session settings, and an invalid one creates no session', async () => {
  await using gateway = await wholeGateway();
  await gateway.call('agent', { ...ASK, thinking: 'UltraThink' });
  assert.equal(gateway.puppet.requests[0]?.effort, 'high');
  const refusal = await gateway.refusal('agent', { ...ASK, idempotencyKey: 'k2', sessionKey: 'new', thinking: 'very' });
  assert.deepEqual(refusal, {
    code: 'INVALID_REQUEST',
    message: 'invalid thinkingLevel (use off|minimal|low|medium|high)',
  });
  assert.equal((await gateway.call('workstream.list', {})).workstreams.length, 1);
});

test('a busy session queues ten runs and refuses the eleventh', async () => {
  await using gateway = await wholeGateway();
  const answered = Promise.withResolvers<void>();
  gateway.puppet.turn(answered.promise);
  const keys = Array.from({ length: 11 }, (_, n) => `key${n}`);
  const waiting = keys.map((idempotencyKey) => asking(gateway, { idempotencyKey }));
  for (const { accepted } of waiting) await accepted();
  const eleventh = await gateway.refusal('agent', { ...ASK, idempotencyKey: 'too-many' });
  assert.deepEqual(eleventh, { code: 'BUSY', message: 'Too many messages are queued in this workstream' });
  answered.resolve();
  const ends = await Promise.all(waiting.map(({ answer }) => answer));
  assert.deepEqual(
    ends,
    keys.map((runId) => ({ ...FINAL, runId })),
  );
  assert.deepEqual(await gateway.call('agent', { ...ASK, idempotencyKey: 'too-many' }), {
    ...FINAL,
    runId: 'too-many',
  });
});

test('agent.wait returns the end, or waits up to its timeout', async () => {
  await using gateway = await wholeGateway();
  const answered = Promise.withResolvers<void>();
  gateway.puppet.turn('a', answered.promise);
  const { accepted, answer } = asking(gateway);
  await accepted();
  const going = { runId: 'k1', status: 'timeout', startedAt: 1_000_000 };
  const looked = gateway.call('agent.wait', { runId: 'k1', timeoutMs: 0 });
  await new Promise(setImmediate);
  await gateway.clock.advance(0);
  assert.deepEqual(await looked, going);
  const waited = gateway.call('agent.wait', { runId: 'k1' });
  await new Promise(setImmediate);
  await gateway.clock.advance(29_999);
  assert.equal(await Promise.race([waited, 'still waiting']), 'still waiting');
  await gateway.clock.advance(1);
  assert.deepEqual(await waited, going);
  const patient = gateway.call('agent.wait', { runId: 'k1', sessionKey: 'main' });
  await new Promise(setImmediate);
  answered.resolve();
  await answer;
  const over = { runId: 'k1', status: 'ok', startedAt: 1_000_000, endedAt: 1_030_000 };
  assert.deepEqual(await patient, over);
  await gateway.restart();
  assert.deepEqual(await gateway.call('agent.wait', { runId: 'k1', timeoutMs: 0 }), over);
});

test('agent.wait returns why a run failed, and does not find runs of other callers or sessions', async () => {
  await using gateway = await wholeGateway();
  gateway.puppet.turn(new ProviderError('refused', 'no such model'));
  await gateway.refusal('agent', ASK);
  assert.deepEqual(await gateway.call('agent.wait', { runId: 'k1' }), {
    runId: 'k1',
    status: 'error',
    startedAt: 1_000_000,
    endedAt: 1_000_000,
    error: 'no such model',
  });
  await gateway.call('sessions.patch', { key: 'elsewhere' });
  const unknown = { code: 'NOT_FOUND', message: 'unknown runId' };
  assert.deepEqual(await gateway.refusal('agent.wait', { runId: 'k2' }), unknown);
  assert.deepEqual(await gateway.refusal('agent.wait', { runId: 'k1' }, { id: 'bob' }), unknown);
  for (const sessionKey of ['elsewhere', 'nowhere']) {
    assert.deepEqual(await gateway.refusal('agent.wait', { runId: 'k1', sessionKey }), unknown);
  }
  assert.equal((await gateway.call('agent.wait', { runId: 'k1', sessionKey: ' main ' })).status, 'error');
});

test('one key of two callers means two runs, each found by its key', async () => {
  await using gateway = await wholeGateway();
  const answered = Promise.withResolvers<void>();
  gateway.puppet.turn(answered.promise);
  const first = asking(gateway);
  await first.accepted();
  const accepted = Promise.withResolvers<unknown>();
  const second = gateway.call('agent', ASK, { id: 'bob', interim: accepted.resolve });
  await accepted.promise;
  const waited = gateway.call('agent.wait', { runId: 'k1' }, { id: 'bob' });
  await new Promise(setImmediate);
  answered.resolve();
  assert.deepEqual(await first.answer, FINAL);
  const { runId } = await second;
  assert.match(runId, /^run_/);
  assert.equal((await waited).status, 'ok');
  assert.equal((await gateway.call('agent.wait', { runId: 'k1' }, { id: 'bob' })).status, 'ok');
});

test('a call that needs approval holds the run until it is decided', async () => {
  await using gateway = await wholeGateway();
  gateway.puppet.turn(calling('touch'));
  const { accepted, answer } = asking(gateway);
  await accepted();
  await gateway.reaches(await gateway.main(), 'approve_request');
  const { approvals } = await gateway.call('approval.list', {});
  await gateway.call('approval.resolve', { approvalId: approvals[0]?.approvalId ?? '', approved: true });
  assert.deepEqual(await answer, FINAL);
});
