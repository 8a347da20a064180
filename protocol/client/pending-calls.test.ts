import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CONTRACTS, isMethodName } from '../index.ts';
import { INTERIM_METHODS } from './pending-calls.ts';
import { connectedClient, newClient, refusal } from './testing/connected-client.ts';
import { hello } from './testing/fake-gateway.ts';

test('a call without an answer times out, and a late answer is ignored', async () => {
  const { gateway, timers, client } = await connectedClient();
  const byDefault = refusal(client.call('health'));
  const shorter = refusal(client.call('status', undefined, { timeoutMs: 500 }));
  await timers.advance(500);
  assert.deepEqual(await shorter, {
    name: 'RequestError',
    code: 'TIMEOUT',
    message: 'no answer to status within 500 ms',
    retryable: true,
  });
  await timers.advance(29_500);
  assert.deepEqual(await byDefault, {
    name: 'RequestError',
    code: 'TIMEOUT',
    message: 'no answer to health within 30000 ms',
    retryable: true,
  });
  await gateway.socket.answer({ id: '1', ok: true, payload: {} });
});

test('an aborted call rejects with the reason of its signal', async () => {
  const { gateway, client } = await connectedClient();
  const controller = new AbortController();
  const aborted = refusal(client.call('health', undefined, { signal: controller.signal }));
  controller.abort(new Error('no longer wanted'));
  const expected = { name: 'Error', message: 'no longer wanted' };
  assert.deepEqual(await aborted, expected);
  assert.deepEqual(await refusal(client.call('health', undefined, { signal: controller.signal })), expected);
  assert.equal(gateway.socket.calls.length, 1, 'a call that was aborted before it began is not sent');
});

test('an interim answer is reported and ends the default timeout; the call resolves with the final answer', async () => {
  const { gateway, timers, client } = await connectedClient();
  const interims: unknown[] = [];
  const run = client.call('agent', { message: 'hi', idempotencyKey: 'k' }, { onInterim: (p) => interims.push(p) });
  await gateway.socket.answer({ id: '1', ok: true, payload: { runId: 'k', status: 'accepted' } });
  await timers.advance(45_000);
  await gateway.socket.answer({ id: '1', ok: true, payload: { runId: 'k', status: 'ok', summary: 'completed' } });
  assert.deepEqual(await run, { runId: 'k', status: 'ok', summary: 'completed' });
  assert.deepEqual(interims, [{ runId: 'k', status: 'accepted' }]);
});

test('a refused call rejects with all fields of the daemon’s error', async () => {
  const { gateway, client } = await connectedClient();
  const run = refusal(client.call('agent', { message: 'hi', idempotencyKey: 'k' }));
  await gateway.socket.answer({
    id: '1',
    ok: false,
    payload: { runId: 'k' },
    error: { code: 'BUSY', message: 'full', retryable: true, retryAfterMs: 2000, details: { queued: 10 } },
  });
  assert.deepEqual(await run, {
    name: 'RequestError',
    code: 'BUSY',
    message: 'full',
    retryable: true,
    retryAfterMs: 2000,
    details: { queued: 10 },
    payload: { runId: 'k' },
  });
});

test('a call over the announced payload limit is refused, and the connection stays open', async () => {
  const { gateway, client, statuses } = newClient();
  client.connect();
  await gateway.socket.accept(hello({ maxPayload: 200 }));
  const call = client.call('workstream.send', { wsId: 'w', message: 'ü'.repeat(100) });
  assert.deepEqual(await refusal(call), {
    name: 'RequestError',
    code: 'PAYLOAD_TOO_LARGE',
    message: 'the call takes 285 of 200 bytes',
    retryable: false,
  });
  assert.deepEqual(gateway.socket.calls, []);
  assert.deepEqual(statuses, ['connecting', 'open']);
});

test('more calls in flight than the daemon allows are refused as BUSY', async () => {
  const { client } = await connectedClient();
  const refusals = Array.from({ length: 256 }, () => refusal(client.call('health')));
  assert.deepEqual(await refusal(client.call('health')), {
    name: 'RequestError',
    code: 'BUSY',
    message: 'too many calls wait for an answer',
    retryable: true,
  });
  client.close();
  await Promise.all(refusals);
});

test('the list of methods with an interim answer matches the rows', () => {
  const names = Object.keys(CONTRACTS).filter((name) => isMethodName(name));
  assert.deepEqual(
    [...INTERIM_METHODS],
    names.filter((name) => 'interim' in CONTRACTS[name]),
  );
});
