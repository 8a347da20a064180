import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GatewayError } from '../../../protocol/errors.ts';
import type { ResponseFrame } from '../../../protocol/frames.ts';
import { LIMITS } from '../../../protocol/limits.ts';
import type { Caller } from '../call.ts';
import { CONNECT } from '../testing/test-client.ts';
import { openConnection } from './connection-fixture.ts';

const never = () => new Promise<never>(() => undefined);

test('an invalid request is answered, with its id if it has one, and the connection stays open', async () => {
  const { welcome, connection, say, call, endTurn, frames, calls } = openConnection();
  await welcome();
  connection.onMessage('{');
  connection.onMessage(undefined);
  say(42);
  say({ type: 'req', id: 7, method: 'x' });
  say({ type: 'res', id: 'r', ok: true });
  say({ type: 'req', id: 'e', method: '' });
  say({ type: 'req', id: 'u', method: 'x', extra: 1 });
  say({ type: 'req', id: 'd', method: 'x', params: JSON.parse(`${'['.repeat(32)}${']'.repeat(32)}`) });
  call('ok', 'health');
  await endTurn();
  const told = (frames() as ResponseFrame[]).slice(1).map(({ id, error }) => [id, error?.code, error?.message]);
  assert.deepEqual(told.slice(0, 2), [
    ['invalid', 'INVALID_REQUEST', 'invalid request frame: not JSON'],
    ['invalid', 'INVALID_REQUEST', 'invalid request frame: not JSON'],
  ]);
  assert.deepEqual(told.map(([id, code]) => `${id} ${code}`).slice(2), [
    'invalid INVALID_REQUEST',
    'invalid INVALID_REQUEST',
    'r INVALID_REQUEST',
    'e INVALID_REQUEST',
    'u INVALID_REQUEST',
    'd INVALID_REQUEST',
    'ok undefined',
  ]);
  assert.ok(told.slice(0, -1).every(([, , message]) => message?.startsWith('invalid request frame: ')));
  assert.equal(calls.at(-1), 'resume');
});

test('connect is only valid as the first request', async () => {
  const { welcome, call, endTurn, frames } = openConnection();
  await welcome();
  call('again', 'connect', CONNECT);
  await endTurn();
  assert.deepEqual(frames()[1], {
    type: 'res',
    id: 'again',
    ok: false,
    error: { code: 'INVALID_REQUEST', message: 'connect is only valid as the first request', retryable: false },
  });
});

test('requests are answered as they finish, with one write per turn', async () => {
  const gate = Promise.withResolvers<unknown>();
  const { welcome, call, endTurn, answers, writes } = openConnection({
    dispatch: async (method) => (method === 'slow' ? gate.promise : method),
  });
  await welcome();
  call('1', 'slow');
  call('2', 'quick');
  call('3', 'quick');
  await endTurn();
  gate.resolve('slow');
  await endTurn();
  assert.deepEqual(answers().slice(1), [
    ['2', 'quick'],
    ['3', 'quick'],
    ['1', 'slow'],
  ]);
  assert.equal(writes.length, 3);
});

test('a method may answer twice on one id, and a refusal may carry a result', async () => {
  const { welcome, call, endTurn, frames } = openConnection({
    async dispatch(_method, _params, caller) {
      caller.interim({ runId: 'r', status: 'accepted' });
      const payload = { runId: 'r', status: 'error', summary: 'no' };
      throw new GatewayError('AGENT_TIMEOUT', 'too slow', { payload, details: { afterMs: 5 } });
    },
  });
  await welcome();
  call('a', 'agent');
  await endTurn();
  assert.deepEqual(frames().slice(1), [
    { type: 'res', id: 'a', ok: true, payload: { runId: 'r', status: 'accepted' } },
    {
      type: 'res',
      id: 'a',
      ok: false,
      payload: { runId: 'r', status: 'error', summary: 'no' },
      error: { code: 'AGENT_TIMEOUT', message: 'too slow', details: { afterMs: 5 }, retryable: false },
    },
  ]);
});

test('an answer that cannot be encoded as JSON is an internal error', async () => {
  const { welcome, call, endTurn, answers } = openConnection({ dispatch: async () => 1n });
  await welcome();
  call('a', 'health');
  await endTurn();
  assert.deepEqual(answers().at(-1), ['a', 'INTERNAL']);
});

test('a handler knows the caller, its address, and when it disconnects', async () => {
  const callers: Caller[] = [];
  const { welcome, call, connection } = openConnection({
    dispatch: (_method, _params, caller) => {
      callers.push(caller);
      return never();
    },
  });
  await welcome();
  call('a', 'health');
  const [caller] = callers;
  assert.deepEqual([caller?.principal?.id, caller?.address, caller?.signal.aborted], ['ada', '::1', false]);
  connection.onClose();
  assert.equal(caller?.signal.aborted, true);
});

test('256 requests may run at once; another one is answered BUSY', async () => {
  const gate = Promise.withResolvers<unknown>();
  const { welcome, call, endTurn, answers } = openConnection({ dispatch: () => gate.promise });
  await welcome();
  for (let i = 1; i <= LIMITS.inFlightPerConnection + 1; i++) call(`${i}`, 'health');
  await endTurn();
  assert.deepEqual(answers().slice(1), [['257', 'BUSY']]);
  gate.resolve('done');
  await endTurn();
  call('later', 'health');
  await endTurn();
  assert.deepEqual(answers().at(-1), ['later', 'done']);
});

test('300 requests are accepted at once, then 50 a second, and refusals have the wait', async () => {
  const { welcome, call, endTurn, answers, frames, clock, seen } = openConnection();
  await welcome();
  for (let i = 1; i <= LIMITS.inboundBurst + 1; i++) call(`${i}`, 'health');
  await endTurn();
  const refused = answers().filter(([, outcome]) => outcome === 'RATE_LIMITED');
  assert.deepEqual(refused, [['301', 'RATE_LIMITED']]);
  assert.equal(seen.filter((what) => what === 'rate limited').length, 1);
  const error = (frames() as ResponseFrame[]).find(({ id }) => id === '301')?.error;
  assert.deepEqual(error, { code: 'RATE_LIMITED', message: 'too many requests', retryable: true, retryAfterMs: 20 });
  await clock.advance(20);
  call('after', 'health');
  call('too soon', 'health');
  await endTurn();
  assert.deepEqual(answers().slice(-2), [
    ['too soon', 'RATE_LIMITED'],
    ['after', 'health'],
  ]);
});

test('the operator can configure the request limit', async () => {
  const { welcome, call, endTurn, answers, clock } = openConnection({ inbound: { burst: 10, perSecond: 2 } });
  await welcome();
  for (let i = 1; i <= 11; i++) call(`${i}`, 'health');
  await clock.advance(500);
  call('after', 'health');
  await endTurn();
  const refused = answers().filter(([, outcome]) => outcome === 'RATE_LIMITED');
  assert.deepEqual(refused, [['11', 'RATE_LIMITED']]);
});

test('broken frames use up the same budget', async () => {
  const { welcome, connection, endTurn, answers } = openConnection();
  await welcome();
  for (let i = 0; i <= LIMITS.inboundBurst; i++) connection.onMessage('{');
  await endTurn();
  assert.deepEqual(answers().at(-1), ['invalid', 'RATE_LIMITED']);
});
